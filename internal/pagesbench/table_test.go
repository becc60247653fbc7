package pagesbench

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/markers"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

// inTable is the index in the comments' own table, which is fed by having records counted. What
// applying takes is therefore what counting takes, the index's part included.
type inTable struct {
	*table.Index
	counter *counts.Counter
}

func openTable(t *testing.T) opened {
	client, name, _ := newTable(t)
	return opened{Store: tableOf(client, name)}
}

func openMarkers(t *testing.T) opened {
	client, name, _ := newTable(t)
	return opened{Store: markers.Open(client, name)}
}

// newTable makes an empty table of comments.
func newTable(t *testing.T) (client *dynamodb.Client, name, endpoint string) {
	t.Helper()
	endpoint, name = dynamotest.Dynoxide(t), dynamotest.TableName(t)
	client = call.NewLocalClient(endpoint)
	if err := dynamo.CreateTable(t.Context(), client, name); err != nil {
		t.Fatal(err)
	}
	return client, name, endpoint
}

func tableOf(client *dynamodb.Client, name string) inTable {
	s := inTable{table.New(client, name), counts.NewCounter(client, name)}
	s.counter.KeepPages(s.Index, slog.New(slog.DiscardHandler))
	return s
}

// Apply counts entries as records of the stream, in their order.
func (s inTable) Apply(ctx context.Context, entries []pageindex.Entry) error {
	sorted := slices.SortedFunc(slices.Values(entries), func(a, b pageindex.Entry) int {
		return strings.Compare(string(a.Follows), string(b.Follows))
	})
	for batch := range slices.Chunk(sorted, 1000) {
		records := make([]stream.Record, len(batch))
		for i, e := range batch {
			records[i] = record(e)
		}
		if err := s.counter.Handle(ctx, records); err != nil {
			return err
		}
	}
	s.counter.AwaitMerges(ctx)
	return nil
}

// record is the stream's record of an entry.
func record(e pageindex.Entry) stream.Record {
	image := layout.CommentKey(comment.IDOf(e.Position))
	image[layout.AttrAll] = layout.Text("P#" + e.Product)
	image[layout.AttrLanguage], image[layout.AttrRating] = layout.Text("en"), layout.Number(1)
	if e.Cell == nil {
		return stream.Record{Position: e.Follows, Old: image}
	}
	image[layout.AttrLanguage], image[layout.AttrRating] = layout.Text(string(e.Cell.Language)), layout.Number(int64(e.Cell.Rating))
	return stream.Record{Position: e.Follows, New: image}
}

// Covers says nothing: the index is as complete as the counts.
func (s inTable) Covers(context.Context) (string, error) { return "", nil }

// Build counts what is added.
func (s inTable) Build(context.Context) (pageindex.Build, error) { return counting{s}, nil }

type counting struct{ inTable }

func (c counting) Add(ctx context.Context, entries []pageindex.Entry) error {
	return c.Apply(ctx, entries)
}
func (c counting) Finish(context.Context, string) error { return nil }
