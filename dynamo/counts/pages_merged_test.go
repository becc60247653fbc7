package counts_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/table"
)

// checkRanks fails unless the index of a product has the right counts in each run, and finds the
// ranks of a sorted list under random filters.
func checkRanks(t *testing.T, r *rand.Rand, client *dynamodb.Client, name, product string, model *commenttest.Model) {
	t.Helper()
	index, unsplit := table.New(client, name), false
	index.OnUnsplit(func(string) { unsplit = true })
	checkRuns(t, must.Get(index.Runs(t.Context(), product))(t), model.List(product, comment.Filter{}, comment.NewestFirst))
	for _, order := range []comment.Order{comment.NewestFirst, comment.OldestFirst} {
		filter := []comment.Filter{{}, {Ratings: []int{1, 5}}, {Languages: []comment.Language{"en"}}, {Helpful: new(false)}, {Languages: []comment.Language{"de", "en"}, Verified: new(true)}}[r.IntN(5)]
		want := model.List(product, filter, order)
		rank := r.IntN(len(want) + 1)
		list, targets := pageindex.List{Product: product, Filter: filter, Order: order}, []pageindex.Target{{Rank: rank, Exact: true}}
		found, err := index.Find(t.Context(), list, targets)
		if unsplit && comment.KindOf(err) == comment.Unavailable { // the network ended the merge
			must.Do(t, index.Merge(t.Context(), product))
			found, err = index.Find(t.Context(), list, targets)
		}
		must.Do(t, err)
		b, before := found.Boundaries[0], 0
		for _, c := range want {
			if b.After != nil && (c.ID.Position().Compare(*b.After) <= 0) == (order == comment.OldestFirst) || b.After != nil && c.ID.Position() == *b.After {
				before++
			}
		}
		if b.Rank != rank || before != rank || found.Counts.Total() != len(want) {
			t.Errorf("filter %v, order %v: rank %d is found as %d, with %d of %d comments before it; counted %d", filter, order, rank, b.Rank, before, len(want), found.Counts.Total())
		}
	}
}

// After each batch, ranks equal those of the sorted markers, while logs are merged, whatever the
// network does and whatever is replayed. Sometimes a counter that does not keep the index drops it.
func TestRanksAreCounted(t *testing.T) {
	r := commenttest.Rand(t)
	direct, name := newTableAt(t, dynamotest.Dynoxide(t))
	client, network := faulttest.Under(direct, faulttest.OneIn(r, 15))
	counter, rd := counts.NewCounter(client, name, counts.CounterOptions{Pages: table.New(client, name), Logger: slog.New(slog.DiscardHandler)}), &reader{life: newLife(r, "p")}
	rd.add(300, false)
	for step := range commenttest.Times(30, 300) {
		rd.some()
		if step%10 == 9 {
			rd.mustCount(t, counts.NewCounter(direct, name, counts.CounterOptions{}))
			rd.add(1, true)
		}
		rd.mustCount(t, counter)
		if r.IntN(3) == 0 {
			counter.AwaitMerges(t.Context())
		}
		must.Do(t, network.Flush())
		checkRanks(t, r, direct, name, rd.product, rd.model)
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
}

// A rebuild beside counting and merging leaves a right index.
func TestIndexWhileAllGoesOn(t *testing.T) {
	r := commenttest.Rand(t)
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	w := newWorld(t, client, commenttest.Many(r, "globe", 300))
	index := table.New(client, w.table)
	w.pages = index
	w.live(r, func(ctx context.Context) error {
		for range 2 {
			rebuilder := newRebuilder(client, w.table)
			rebuilder.Pages, rebuilder.Logger = index, slog.New(slog.DiscardHandler)
			if _, err := rebuilder.Run(ctx, func(counts.RebuildProgress) {}); err != nil {
				return err
			}
		}
		return nil
	})
	w.check()
	checkRanks(t, r, client, w.table, "globe", w.model)
}

// Verify finds damage to the stored runs of a page index, and a rebuild creates the index again.
func TestDamagedRuns(t *testing.T) {
	r := commenttest.Rand(t)
	client, name := newTableAt(t, dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: name}
	comments := commenttest.Many(r, "p", 280)
	for i := range comments { // languages are so long that the runs take several chunks
		comments[i].Language = comment.Language(fmt.Sprintf("x-aaaaaaaa-bbbbbbbb-cccccccc-%03d", i%130))
	}
	model := commenttest.NewModel(comments...)
	load(t, client, name, comments)
	index := table.New(client, name)
	rebuildKeeping(t, client, name, index)
	if chunks := sortKeys(t, client, name, "R#p", "K#"); len(chunks) < 2 {
		t.Fatalf("chunks %q", chunks)
	}
	for _, row := range []struct {
		why   string
		do    func(chunk string)
		finds counts.DriftKind // WrongIndex if empty
	}{
		{why: "a chunk is gone", do: func(chunk string) { v.delete("R#p", chunk) }},
		{why: "a chunk cannot be read", do: func(chunk string) { v.update("R#p", chunk, "SET v = :a", text("?")) }},
		{why: "the directory is gone", do: func(string) { v.delete("R#p", "L") }},
		{why: "the directory cannot be read", do: func(string) {
			v.update("R#p", "L", "SET v = :a", &types.AttributeValueMemberB{Value: []byte("?")})
		}},
		{why: "the head is gone, and what is left of the index cannot be read", finds: counts.MissingIndex, do: func(string) {
			v.update("P#p", "S", "REMOVE i")
			v.update("R#p", "L", "SET v = :a", &types.AttributeValueMemberB{Value: []byte("?")})
		}},
		{why: "everything is gone", do: func(string) {
			for _, sort := range sortKeys(t, client, name, "R#p", "") {
				v.delete("R#p", sort)
			}
		}},
	} {
		t.Run(row.why, func(t *testing.T) {
			row.do(sortKeys(t, client, name, "R#p", "K#")[0])
			verifyIndex(t, client, name, index, cmp.Or(row.finds, counts.WrongIndex))
			rebuildKeeping(t, client, name, index)
			verifyIndex(t, client, name, index)
			checkRanks(t, r, client, name, "p", model)
		})
	}
}

// sortKeys returns the sort keys in a partition that have a prefix.
func sortKeys(t *testing.T, client *dynamodb.Client, name, partition, prefix string) (found []string) {
	t.Helper()
	output, err := client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: &name, KeyConditionExpression: aws.String("PK = :key"),
		ExpressionAttributeValues: layout.Item{":key": text(partition)}, ConsistentRead: aws.Bool(true),
	})
	must.Do(t, err)
	for _, it := range output.Items {
		if sort := layout.NewReader(it).Text("SK"); strings.HasPrefix(sort, prefix) {
			found = append(found, sort)
		}
	}
	return found
}

// Once all comments of a product are deleted, the partition of its index is empty.
func TestNothingIsLeftOfAnIndex(t *testing.T) {
	client, name := newTableAt(t, dynamotest.Dynoxide(t))
	counter, rd := counts.NewCounter(client, name, counts.CounterOptions{Pages: table.New(client, name), Logger: slog.New(slog.DiscardHandler)}), &reader{life: newLife(commenttest.Rand(t), "p")}
	rd.add(400, true)
	rd.mustCount(t, counter)
	counter.AwaitMerges(t.Context())
	if len(sortKeys(t, client, name, "R#p", "")) == 0 {
		t.Fatal("nothing was there")
	}
	for _, c := range rd.model.All() {
		rd.delete(c)
	}
	rd.mustCount(t, counter)
	counter.AwaitMerges(t.Context())
	if left := sortKeys(t, client, name, "R#p", ""); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
