package table_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/pageindex/table"
)

// unmerged returns an index of the same table whose logs are never merged.
func (c *countedIndex) unmerged() *countedIndex {
	counter := counts.NewCounter(c.client, c.table, counts.CounterOptions{Pages: noMerge{}, Logger: slog.New(slog.DiscardHandler)})
	return &countedIndex{Index: c.Index, counter: counter, client: c.client, table: c.table}
}

// committing runs a transaction while a merge reads markers. Its writes arrive at the markers
// first, and at the statistics only when a transaction reads them.
type committing struct {
	*dynamodb.Client
	transaction func()
	statistics  *dynamodb.BatchGetItemOutput
}

func (c *committing) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (out *dynamodb.BatchGetItemOutput, err error) {
	if c.statistics == nil {
		c.statistics, err = c.Client.BatchGetItem(ctx, in, options...)
	}
	return c.statistics, err
}

func (c *committing) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if strings.Contains(*in.KeyConditionExpression, "BETWEEN") && c.transaction != nil {
		c.transaction()
		c.transaction = nil
	}
	return c.Client.Query(ctx, in, options...)
}

// A merge splits a run by markers that include half a transaction. The runs have none of it until
// the next merge, even if the transaction cancels out in the counts of the run.
func TestSplitLeavesATransactionOut(t *testing.T) {
	c := newCounted(t, dynamotest.Dynoxide(t)).unmerged()
	five := &comment.Cell{Language: "en", Rating: 5}
	now := state{}
	count := func(batch ...pageindex.Entry) {
		if err := c.Apply(t.Context(), batch); err != nil {
			t.Error(err)
		}
		for _, entry := range batch {
			if delete(now, entry.Position); entry.Cell != nil {
				now[entry.Position] = *entry.Cell
			}
		}
	}
	var added []pageindex.Entry
	for i := range 700 {
		added = append(added, pageindex.Entry{Product: "p", Position: place(2 * i), Follows: follows(i), Cell: five})
	}
	count(added...)
	client := &committing{Client: c.client, transaction: func() {
		count(pageindex.Entry{Product: "p", Position: place(40), Follows: follows(1000)},
			pageindex.Entry{Product: "p", Position: place(401), Follows: follows(1000), Cell: five})
	}}
	for _, index := range []*table.Index{table.New(client, c.table), c.Index} {
		must.Do(t, index.Merge(t.Context(), "p"))
	}
	if client.transaction != nil {
		t.Fatal("the merge read no markers")
	}
	for _, rank := range []int{0, 30, 150, 600} {
		targets := []pageindex.Target{{Rank: rank, Exact: true}}
		found, err := c.Find(t.Context(), pageindex.List{Product: "p", Order: comment.OldestFirst}, targets)
		if err != nil || !now.fits(nil, targets, found) {
			t.Errorf("rank %d: got %+v, %v", rank, found, err)
		}
	}
}

// newChunked makes a product whose 600 comments are in runs of 100, each in a chunk of its own.
func newChunked(t *testing.T) *crowd {
	t.Helper()
	c, grid := newUnindexed(t, 600)
	first := runs.Start(grid, comment.MaxPosition, time.Now()).First
	put := func(sortKey string, content []byte) {
		it := layout.PagesKey(crowded, sortKey)
		it[layout.AttrPages], it["n"] = layout.Binary(content), layout.Number(int64(first))
		must.Get(c.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &c.table, Item: it}))(t)
	}
	directory := runs.Directory{Version: first, Merged: first}
	var from comment.Position
	for part := range slices.Chunk(c.markers, 100) {
		run := runs.Run{From: from, End: part[99].Position.Next(), Counts: comment.Stats{}}
		for _, m := range part {
			run.Counts.Add(m.Cell, 1)
		}
		chunk := runs.Chunk{Runs: []runs.Run{run}}
		ref := runs.Reference{
			Key: runs.Key{Version: first, Number: uint32(len(directory.References))}, Run: run, Bytes: len(chunk.Encode()),
		}
		put("K#"+ref.Key.String(), chunk.Encode())
		directory.References = append(directory.References, ref)
		from = run.End
	}
	put("K#"+runs.Key{Version: first, Number: 1000}.String(), []byte("of a killed merge"))
	put(layout.DirectorySK, directory.Encode())
	c.writeStatistics(t, grid, runs.Head{Bound: from, Highest: from, First: first, Last: first})
	return c
}

// remove counts the deletion of a comment without a merge.
func (c *crowd) remove(t *testing.T, number int) {
	t.Helper()
	must.Do(t, c.unmerged().Apply(t.Context(), []pageindex.Entry{c.entry(c.markers[number].Position, nil)}))
}

// The chunks that a merge replaced stay for readers of the directory before. The next merge deletes
// them, and those of a merge that was killed.
func TestMergeDeletesUnneededChunks(t *testing.T) {
	c := newChunked(t)
	// Each merge joins a changed chunk with its small neighbours: 0 to 2, then 3, then 4.
	for i, want := range []int{4 + 3, 3 + 2, 2 + 2} { // needed + replaced
		c.remove(t, 150+100*i)
		must.Do(t, c.Merge(t.Context(), crowded))
		if held := c.held(t, crowded); len(held) != want+1 {
			t.Errorf("after merge %d: %q", i+1, held)
		}
	}
}

// A merge that would rewrite five chunks for a few changes waits for more of them.
func TestExpensiveMergeWaits(t *testing.T) {
	c := newChunked(t)
	for i := range 5 {
		c.remove(t, 50+100*i)
	}
	before := c.held(t, crowded)
	must.Do(t, c.Merge(t.Context(), crowded))
	if after := c.held(t, crowded); !slices.Equal(before, after) {
		t.Errorf("%q became %q", before, after)
	}
}

// A merge whose answers are lost, or whose process ends, leaves the index whole. The merge that
// comes next goes on.
func TestMergeWithoutAnswers(t *testing.T) {
	for n, ended := 1, false; !ended; n++ {
		c := newChunked(t)
		c.remove(t, 150)
		client, network := faulttest.Under(c.client, faulttest.Nth(n, faulttest.AnswerLost))
		if err := table.New(client, c.table).Merge(t.Context(), crowded); err != nil {
			t.Errorf("without the answer to call %d: %v", n, err)
		}
		ended = network.Calls() < n
		for range 2 {
			all, err := c.Runs(t.Context(), crowded)
			total := 0
			for _, run := range all {
				total += run.Counts.Total()
			}
			if err != nil || total != 599 {
				t.Errorf("without the answer to call %d, %d comments are in runs: %v", n, total, err)
			}
			must.Do(t, c.Merge(t.Context(), crowded))
		}
	}
}
