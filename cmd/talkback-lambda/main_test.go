package main

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

func TestTableName(t *testing.T) {
	for _, row := range []struct {
		value string
		set   bool
		want  string
		why   string
	}{
		{"", false, "comments", "not set"},
		{"reviews", true, "reviews", "a name"},
		{"", true, "", "a template that filled in nothing must not select the default table"},
		{" ", true, "", "spaces"},
	} {
		if got, err := tableName(row.value, row.set); got != row.want || (err == nil) != (row.want != "") {
			t.Errorf("%s: %q, %v, want %q", row.why, got, err, row.want)
		}
	}
}

// A function refuses stores of one machine, and tells nothing of what it was given.
func TestPagesTarget(t *testing.T) {
	for _, row := range []struct {
		value string
		set   bool
		name  string
		why   string
	}{
		{"", false, "table", "not set"},
		{"none", true, "none", "a word"},
		{"redis://:secret@cache:6379/0", true, "redis://cache:6379/0", "a store"},
		{"sqlite:/tmp/secret.db", true, "", "a file"},
		{"", true, "", "a template that filled in nothing"},
	} {
		got, err := pagesTarget(row.value, row.set)
		if got.Name != row.name || (err == nil) != (row.name != "") || err != nil && (strings.Contains(err.Error(), "secret") || !strings.HasPrefix(err.Error(), "TALKBACK_PAGES names ")) {
			t.Errorf("%s: %q, %v", row.why, got.Name, err)
		}
	}
}

// The function does not count a table that has the layout of another release.
func TestFunctionChecksTheLayout(t *testing.T) {
	client, table := newTable(t)
	it := layout.Key("SETTINGS", "LAYOUT")
	it["v"] = layout.Number(dynamo.LayoutVersion + 1)
	must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: it}))(t)
	_, err := newFunction(t.Context(), client, table, keeper.Target{Name: keeper.InTable}, signals{}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "use the newer release") {
		t.Error(err)
	}
}

// The function feeds the store, also when that is away at its start; while it is, records are
// counted all the same.
func TestFunctionFeeds(t *testing.T) {
	server := redistest.Start(t)
	client, table := newTable(t)
	target := must.Get(pagesTarget(server.URL(), true))(t)
	// As a server would, which builds the store.
	store := keeper.NewLazy(target, table)
	defer store.Close()
	shared := leases.NewLeases(client, table)
	builder := keeper.New(keeper.Options{
		Name: target.Name, Store: store, Table: keeper.NewTableRegistry(client, table), Progress: shared,
		Entries: counts.NewEntries(client, table), Logger: slog.New(slog.DiscardHandler),
		Pace: keeper.Pace{Look: time.Millisecond, Feed: time.Second, Find: time.Second, Build: time.Minute, Finish: time.Minute, Heartbeat: time.Second, Lag: time.Hour},
	})
	must.Do(t, stream.MarkComplete(t.Context(), shared, stream.State{}, time.Now()))
	must.Get(builder.Build(t.Context(), func(int64) {}))(t)
	server.Pause(t)
	f := must.Get(newFunction(t.Context(), client, table, target, signals{}, slog.New(slog.DiscardHandler)))(t)
	server.Resume(t)
	comments := commenttest.Many(commenttest.Rand(t), "p", 2)
	hand(t, f, table, "1", comments[0])
	list := pageindex.List{Product: "p", Order: comment.NewestFirst}
	found, err := builder.Find(t.Context(), list, nil)
	if err != nil || found.Counts.Total() != 1 {
		t.Errorf("%d comments, %v", found.Counts.Total(), err)
	}
	server.Stop(t)
	hand(t, f, table, "2", comments[1])
	server.Restart(t)
	if _, err := builder.Find(t.Context(), list, nil); comment.KindOf(err) != comment.Unavailable {
		t.Error(err)
	}
	if n, err := builder.Build(t.Context(), func(int64) {}); err != nil || n != 2 {
		t.Error(n, err)
	}
	found, err = builder.Find(t.Context(), list, nil)
	if err != nil || found.Counts.Total() != 2 {
		t.Errorf("%d comments, %v", found.Counts.Total(), err)
	}
}

// hand hands the records of new comments of a table to the function, which must process them. Their
// sequence numbers begin with a text.
func hand(t *testing.T, f invoke, table, sequence string, comments ...comment.Comment) {
	t.Helper()
	var records []events.DynamoDBEventRecord
	for i, c := range comments {
		records = append(records, events.DynamoDBEventRecord{
			EventSourceArn: "arn:aws:dynamodb:eu-central-1:1:table/" + table + "/stream/2026-01-01T00:00:00.000",
			Change:         events.DynamoDBStreamRecord{SequenceNumber: fmt.Sprintf("%s%03d", sequence, i), NewImage: imageOf(c)},
		})
	}
	response, err := f(t.Context(), events.DynamoDBEvent{Records: records})
	if err != nil || len(response.BatchItemFailures) > 0 {
		t.Fatal(response, err)
	}
}

func imageOf(c comment.Comment) map[string]events.DynamoDBAttributeValue {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, value := range layout.Encode(c) {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			image[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	return image
}
