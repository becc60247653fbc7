package table_test

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/pageindex/table"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

// countedIndex is an index that a counter feeds.
type countedIndex struct {
	*table.Index
	counter *counts.Counter
	client  *dynamodb.Client
	table   string
}

func newCounted(t *testing.T, endpoint string) *countedIndex {
	t.Helper()
	client, name := call.NewLocalClient(endpoint), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	return sharing(client, name)
}

// sharing returns another index of a table, like that of another process.
func sharing(client *dynamodb.Client, name string) *countedIndex {
	index := table.New(client, name)
	counter := counts.NewCounter(client, name, counts.CounterOptions{Pages: index, Logger: slog.New(slog.DiscardHandler)})
	return &countedIndex{Index: index, counter: counter, client: client, table: name}
}

// Apply counts entries. A stream has the records of one comment in order, and never for the first
// time after a later one, so an edit that changes no count need not be noted. Entries have no such
// order. So each follows a record with another cell, which makes the counter note it.
func (c *countedIndex) Apply(ctx context.Context, entries []pageindex.Entry) error {
	entries = slices.SortedStableFunc(slices.Values(entries), func(a, b pageindex.Entry) int {
		return cmp.Compare(a.Follows, b.Follows)
	})
	var records []stream.Record
	for _, entry := range entries {
		other := entry
		other.Cell, other.Follows = &comment.Cell{Language: "en", Rating: 1}, earliest
		if entry.Cell != nil && *entry.Cell == *other.Cell {
			other.Cell.Rating = comment.MaxRating
		}
		records = append(records, record(other), record(entry))
	}
	if err := c.counter.Handle(ctx, records); err != nil {
		return err
	}
	c.counter.AwaitMerges(ctx)
	return nil
}

// earliest is a position before all records.
const earliest stream.Position = "0"

func record(entry pageindex.Entry) stream.Record {
	r := stream.Record{Position: cmp.Or(entry.Follows, earliest)}
	image := layout.CommentKey(comment.IDOf(entry.Position))
	image[layout.AttrAll] = layout.Text("P#" + entry.Product)
	image[layout.AttrLanguage], image[layout.AttrRating] = layout.Text("en"), layout.Number(1)
	if entry.Cell == nil {
		r.Old = image
		return r
	}
	image[layout.AttrLanguage] = layout.Text(string(entry.Cell.Language))
	image[layout.AttrRating] = layout.Number(int64(entry.Cell.Rating))
	if entry.Cell.Traits != 0 {
		image[layout.AttrTraits] = layout.Text(entry.Cell.Traits.String())
	}
	r.New = image
	return r
}

func (c *countedIndex) Covers(context.Context) (string, error)         { return "", nil }
func (c *countedIndex) Build(context.Context) (pageindex.Build, error) { return nil, nil }
func (c *countedIndex) Products(context.Context, func(string)) error   { return nil }
func (c *countedIndex) Close() error                                   { return nil }

// held returns the sort keys of a product's index.
func (c *countedIndex) held(t *testing.T, product string) []string {
	t.Helper()
	output, err := c.client.Query(t.Context(), &dynamodb.QueryInput{
		TableName: aws.String(c.table), ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :key"),
		ExpressionAttributeValues: layout.Item{":key": layout.PagesKey(product, "")[layout.AttrPK]},
	})
	must.Do(t, err)
	var keys []string
	for _, it := range output.Items {
		keys = append(keys, layout.NewReader(it).Text(layout.AttrSK))
	}
	return keys
}

func TestConformance(t *testing.T) {
	conformance.RunCounted(t, func(t *testing.T) conformance.Place {
		c := newCounted(t, dynamotest.Dynoxide(t))
		return conformance.Place{Shared: true, Open: func(*testing.T) pageindex.Store { return sharing(c.client, c.table) }}
	})
}

// entries returns new comments of a product, a second apart.
func entries(product string, from, number int) []pageindex.Entry {
	out := make([]pageindex.Entry, number)
	for i := range out {
		n := from + i
		out[i] = pageindex.Entry{
			Product: product, Position: place(n), Follows: follows(n),
			Cell: &comment.Cell{Language: []comment.Language{"en", "de", "en", "fr"}[n%4], Rating: 1 + n%comment.MaxRating},
		}
	}
	return out
}

func follows(n int) stream.Position { return stream.PositionOf("2026-01-01", strconv.Itoa(n)) }

// place returns the position of the n-th comment, a second after the one before.
func place(n int) comment.Position {
	return comment.PositionAt(time.Date(2020, 1, 1, 0, 0, n, 0, time.UTC), [10]byte{byte(n), byte(n >> 8)})
}

// When the last comment of a product is deleted, its index is gone, and another can start. A replay
// of the deletions removes what an earlier merge left.
func TestNothingStaysOfAProductWithoutComments(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		c := newCounted(t, endpoint)
		next := 0
		for range 2 {
			added := entries("p", next, 500)
			next += 2 * len(added)
			gone := slices.Clone(added)
			for i := range gone {
				gone[i].Cell, gone[i].Follows = nil, follows(next-i)
			}
			for _, batch := range [][]pageindex.Entry{added, gone[:200]} {
				must.Do(t, c.Apply(t.Context(), batch))
			}
			if len(c.held(t, "p")) == 0 {
				t.Fatal("no index was made")
			}
			found, err := c.Find(t.Context(), pageindex.List{Product: "p", Order: comment.OldestFirst}, []pageindex.Target{{Rank: 150, Exact: true}})
			if err != nil || found.Counts.Total() != 300 || found.Boundaries[0].Rank != 150 || *found.Boundaries[0].After != added[349].Position {
				t.Fatalf("got %+v, %v", found, err)
			}
			for range 2 {
				must.Do(t, c.Apply(t.Context(), gone[200:]))
				statistics := must.Get(call.Item(t.Context(), c.client, c.table, layout.ProductKey("p", layout.StatisticsSK), "statistics"))(t)
				if held := c.held(t, "p"); len(held) > 0 || statistics[layout.AttrHead] != nil {
					t.Errorf("left: %q, and of the head %v", held, statistics[layout.AttrHead])
				}
				must.Get(c.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &c.table, Item: layout.PagesKey("p", layout.DirectorySK)}))(t)
			}
		}
	})
}
