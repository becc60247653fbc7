package counts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// misfilings are edits by hand of a comment's keys, with the drift that verify finds. The number is
// the comment's place in the result of filed.
var misfilings = []struct {
	why        string
	of         int
	expression string
	values     values
	finds      counts.DriftKind
}{
	{"a pending comment is put into a list", 1, "SET A = :a", values{text("P#p")}, counts.HiddenInLists},
	{"a rejected comment is put into a list by rating alone", 2, "SET R = :a", values{text("P#p/5")}, counts.HiddenInLists},
	{"an approved comment is missing in a list", 0, "REMOVE L", nil, counts.WrongLists},
	{"a pending comment is not in the queue", 1, "REMOVE board, place", nil, counts.MissingInQueue},
	{"a held edit is not in the queue", 3, "REMOVE board, place", nil, counts.MissingInQueue},
	{"a place in the queue cannot be read", 1, "SET place = :a", values{text("private words")}, counts.WrongPlace},
	{"a part of the queue that no moderator reads", 1, "SET board = :a", values{text("QUEUE#77")}, counts.WrongPlace},
	{"a rejected comment is in the queue", 2, "SET board = :a, place = :b", values{text("QUEUE#0"), text("1")}, counts.StrayInQueue},
	{"a comment that nobody reported is in the queue for that", 4, "REMOVE f", nil, counts.StrayInQueue},
}

// filedStates is how many comments filed returns.
const filedStates = 5

// filed returns a comment in each state: approved, pending, rejected, with a held edit, and
// reported.
func filed(t *testing.T) []comment.Comment {
	all := commenttest.Many(commenttest.Rand(t), "p", filedStates)
	for i := range all {
		all[i].Version = 1
		at := all[i].CreatedAt().Add(time.Minute)
		all[i].Moderation = &comment.Moderation{Since: at}
		reason, m := comment.Spam, all[i].Moderation
		switch i {
		case 0:
			all[i].Moderation = nil
		case 1:
			all[i].Status, m.Held = comment.Pending, []comment.HoldReason{comment.HeldLink}
		case 2:
			all[i].Status, all[i].Moderation = comment.Rejected, &comment.Moderation{Reason: &reason}
		case 3:
			m.Held = []comment.HoldReason{comment.HeldEdited}
			m.HeldEdit = &comment.HeldEdit{Rating: 1, Language: "de", Text: "anders", At: at, Version: 2}
		case 4:
			m.Held, m.Reports = []comment.HoldReason{comment.HeldReported}, 3
		}
	}
	return all
}

// Verify finds keys that contradict the state of their comment, and a rebuild restores them. A lost
// reason to wait becomes the policy or the edit. Other comments stay unchanged.
func TestMisfiledComments(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		client := call.NewLocalClient(endpoint)
		v := newVandal(t, client)
		var comments []comment.Comment
		for range misfilings {
			comments = append(comments, filed(t)...)
		}
		load(t, client, v.table, comments)
		rebuild(t, client, v.table)
		verify(t, client, v.table)
		for i, row := range misfilings {
			v.update("C#"+comments[i*filedStates+row.of].ID.Position().String(), "C", row.expression, row.values...)
		}
		found := must.Get(counts.HastenVerifier(counts.NewVerifier(client, v.table, counts.VerifyOptions{})).Run(t.Context(), func(int) {}))(t)
		for i, row := range misfilings {
			if !hasDrift(found.Drifts, row.finds, comments[i*filedStates+row.of]) {
				t.Errorf("%s: verify finds %v, want %s", row.why, found.Drifts, row.finds)
			}
		}
		if got := rebuild(t, client, v.table); got.Refiled != len(misfilings) {
			t.Errorf("a rebuild refiled %d comments, not %d", got.Refiled, len(misfilings))
		}
		rebuild(t, client, v.table) // counts the changes, since no stream is read here
		verify(t, client, v.table)
		scanner := dynamo.NewScanner(client, v.table, 1)
		scanner.Everything = true
		states := map[comment.ID]comment.Status{}
		for c, err := range scanner.All(t.Context()) {
			must.Do(t, err)
			if err := c.Check(); err != nil {
				t.Errorf("%s: %v", c, err)
			}
			states[c.ID] = c.Status
		}
		for i, c := range comments {
			if states[c.ID] != c.Status {
				t.Errorf("%s is %s, and was %s: %s", c, states[c.ID], c.Status, misfilings[i/filedStates].why)
			}
		}
	})
}

// hasDrift reports whether the drifts of a kind include a comment.
func hasDrift(drifts []counts.Drift, kind counts.DriftKind, of comment.Comment) bool {
	return slices.ContainsFunc(drifts, func(d counts.Drift) bool {
		return d.Kind == kind && strings.HasPrefix(d.Detail, "comment "+string(of.ID)+" ")
	})
}

// A comment that lost its state is reported and not published, since it may never have been
// approved.
func TestLostState(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := newVandal(t, client)
	comments := filed(t)
	load(t, client, v.table, comments)
	pk := "C#" + comments[2].ID.Position().String()
	v.update(pk, "C", "REMOVE z")
	v.update("C#"+comments[0].ID.Position().String(), "D#1", "SET note = :a", text("a decision"))
	result := rebuild(t, client, v.table)
	found := verify(t, client, v.table)
	if diff := cmp.Diff(result.Improper, found.Improper); diff != "" || len(found.Improper) != 1 || found.Improper[0].Key != pk+"/C" {
		t.Errorf("rebuild %v, verify %v", result.Improper, found.Improper)
	}
}

// While products move from shard to shard and others are counted, every read of the leaderboard has
// each unchanged product once, in order. In the end everything is right.
func TestLeaderShardsChange(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		client, table := newTableAt(t, endpoint)
		model := commenttest.NewModel()
		var still []string
		for i := range 12 {
			still = append(still, fmt.Sprint("still-", i))
			for range i + 1 {
				c := commenttest.Random(r, still[i])
				c.Rating, c.Language = comment.MaxRating, "en"
				model.Insert(c)
			}
		}
		load(t, client, table, model.All())
		rebuild(t, client, table)
		want := atRest(model.Leaders("en", 100))

		ctx, stop := context.WithCancel(t.Context())
		var group errgroup.Group
		group.Go(func() error {
			return countOthers(ctx, t, counts.NewCounter(client, table, counts.CounterOptions{}), dynamo.NewStore(client, table, dynamo.Options{}), model)
		})
		group.Go(func() error { return readLeaders(ctx, dynamo.NewStore(client, table, dynamo.Options{}), want) })
		for _, shards := range []int{16, 5} {
			rebuilder := counts.HastenButForReaders(counts.NewRebuilder(client, table, counts.RebuildOptions{Calls: 2}))
			rebuilder.LeaderShards = shards
			if _, err := rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}); err != nil {
				t.Error(err)
			}
		}
		stop()
		must.Do(t, group.Wait())
		checkCounted(t, client, table, append(still, "moving-0", "moving-1", "moving-2"), model)
		verify(t, client, table)
	})
}

// A process may count with the number of shards that a rebuild has changed meanwhile: the first
// comment of a product, or the first of 5 stars. Both are listed in the shard that is read.
func TestCountingWhileShardsChange(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	for _, known := range []bool{false, true} {
		table, r := newTable(t, client), commenttest.Rand(t)
		var all []comment.Comment
		add := func(product string, rating int) stream.Record {
			c := commenttest.Random(r, product)
			c.Rating = rating
			all = append(all, c)
			return stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(len(all))), New: layout.Encode(c)}
		}
		var before, records []stream.Record
		for i := 0; known && i < 8; i++ {
			before = append(before, add(fmt.Sprint("p", i), 1))
		}
		load(t, client, table, all)
		for i := range 8 { // some of these products move
			records = append(records, add(fmt.Sprint("p", i), comment.MaxRating))
		}
		handle(t, counts.NewCounter(client, table, counts.CounterOptions{}), before...)
		counting := faulttest.Before(client, "TransactWriteItems", sync.OnceFunc(func() { reshard(t, client, table, 16) }))
		handle(t, counts.NewCounter(counting, table, counts.CounterOptions{}), records...)
		load(t, client, table, all)
		verify(t, client, table)
		if t.Failed() {
			t.Fatalf("known before: %v", known)
		}
	}
}

func reshard(t *testing.T, client *dynamodb.Client, table string, shards int) {
	t.Helper()
	rebuilder := newRebuilder(client, table)
	rebuilder.LeaderShards = shards
	if _, err := rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}); err != nil {
		t.Error(err)
	}
}

// A rebuild that another one took over, and that has not noticed, moves nothing back.
func TestTakenOverRebuildMovesNothing(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v, _ := damaged(t, client)
	late := faulttest.Before(client, "Scan", sync.OnceFunc(func() {
		v.delete("STATISTICS", "REBUILD")
		reshard(t, client, v.table, 16)
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	transactions := 0
	late = faulttest.Before(late, "TransactWriteItems", func() {
		if transactions++; transactions == 3 {
			cancel()
		}
	})
	rebuilder := counts.HastenButForHeartbeats(counts.NewRebuilder(late, v.table, counts.RebuildOptions{Calls: 1}))
	if _, err := rebuilder.Run(ctx, func(counts.RebuildProgress) {}); err == nil {
		t.Error("it ends as if it were alone")
	}
	verify(t, client, v.table)
}

// atRest returns the leaders whose products are not being counted, without their ranks.
func atRest(leaders []comment.Leader) []comment.Leader {
	out := slices.DeleteFunc(slices.Clone(leaders), func(l comment.Leader) bool { return l.Product[0] == 'm' })
	for i := range out {
		out[i].Rank = 0
	}
	return out
}

// countOthers adds comments of other products, and counts them, until the context ends.
func countOthers(ctx context.Context, t *testing.T, counter *counts.Counter, store *dynamo.Store, model *commenttest.Model) error {
	r := commenttest.Rand(t)
	for sequence := 1; ctx.Err() == nil; sequence++ {
		c := commenttest.Random(r, fmt.Sprint("moving-", sequence%3))
		if _, err := store.Add(t.Context(), c, ""); err != nil {
			return err
		}
		model.Insert(c)
		record := stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(sequence)), New: layout.Encode(c)}
		if err := counter.Handle(t.Context(), []stream.Record{record}); err != nil {
			return err
		}
	}
	return nil
}

// readLeaders reads leaderboards until the context ends.
func readLeaders(ctx context.Context, store *dynamo.Store, want []comment.Leader) error {
	for ctx.Err() == nil {
		for _, language := range []comment.Language{"", "en"} {
			leaders, err := store.Leaders(context.WithoutCancel(ctx), language, 100)
			if err != nil {
				return err
			}
			if diff := cmp.Diff(want, atRest(leaders)); diff != "" {
				return fmt.Errorf("leaderboard of %q: %s", language, diff)
			}
		}
	}
	return nil
}
