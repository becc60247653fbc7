package counts_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// While products move from shard to shard and others are counted, every read of the leaderboard has
// each unchanged product once, in order. In the end everything is right.
func TestLeaderShardsChange(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		t.Parallel()
		r := commenttest.Rand(t)
		client := call.NewLocalClient(endpoint)
		table := newTable(t, client)
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
		for _, shards := range []int{1, 16, 5} {
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
			return stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(len(all))), New: image(c)}
		}
		var before, records []stream.Record
		for i := 0; known && i < 8; i++ {
			before = append(before, add(fmt.Sprint("p", i), 1))
		}
		load(t, client, table, all)
		for i := range 8 { // some of these products move
			records = append(records, add(fmt.Sprint("p", i), comment.MaxRating))
		}
		must.Do(t, counts.NewCounter(client, table, counts.CounterOptions{}).Handle(t.Context(), before))
		counting := &between{Client: client, transaction: func() { reshard(t, client, table, 16) }}
		must.Do(t, counts.NewCounter(counting, table, counts.CounterOptions{}).Handle(t.Context(), records))
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
	late := &between{Client: client, scan: func() {
		v.delete("STATISTICS", "REBUILD")
		reshard(t, client, v.table, 16)
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	late.transaction = func() { late.transaction = func() { late.transaction = cancel } } // at the third
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
		record := stream.Record{Position: stream.PositionOf("2026", fmt.Sprint(sequence)), New: image(c)}
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
