package counts_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
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
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// No test runs in parallel to others: they share one engine, which slows down with the number of
// tables in use. In parallel they take a fifth more processor time, and are no faster.
func TestMain(m *testing.M) { dynamotest.Main(m) }

// history is a random history of some products: the records of each shard, the comments that remain
// and those that were deleted.
type history struct {
	shards [2][]stream.Record
	model  *commenttest.Model
	gone   []comment.Comment
}

var historicProducts = []string{"globe", "a/b#c", "ü"}

// change draws a change: a comment is added, or one of those there is edited or deleted, or a
// deleted one comes back. fresh makes comments.
func (h *history) change(r *rand.Rand, there []comment.Comment, fresh func(product string) comment.Comment) (before, after *comment.Comment) {
	switch choice := r.IntN(10); {
	case choice < 5 && len(there) > 0:
		before = &there[r.IntN(len(there))]
		if choice < 2 {
			h.gone = append(h.gone, *before)
			return before, nil
		}
		after = new(fresh(before.ProductID))
		after.ID, after.Version = before.ID, before.Version+1
		return before, after
	case choice < 7 && len(h.gone) > 0:
		last := len(h.gone) - 1
		after = new(fresh(h.gone[last].ProductID))
		after.ID, h.gone = h.gone[last].ID, h.gone[:last]
		return nil, after
	}
	return nil, new(fresh(historicProducts[r.IntN(len(historicProducts))]))
}

// apply makes a change in a model.
func apply(model *commenttest.Model, before, after *comment.Comment) {
	if before != nil {
		model.Delete(before.ID)
	}
	if after != nil {
		model.Insert(*after)
	}
}

// newHistory makes a number of changes. Half of the comments have votes and any state: only
// approved ones count.
func newHistory(r *rand.Rand, records int) *history {
	h := &history{model: commenttest.NewModel()}
	written := commenttest.NewModel() // comments of all states
	for sequence := range records {
		before, after := h.change(r, written.All(), func(product string) comment.Comment {
			if r.IntN(2) == 0 {
				return commenttest.Moderated(r, commenttest.Random(r, product))
			}
			return commenttest.Random(r, product)
		})
		h.add(sequence, before, after)
		apply(written, before, after)
		if after != nil && after.Status != comment.Approved {
			after = nil
		}
		apply(h.model, before, after)
	}
	return h
}

func (h *history) add(sequence int, before, after *comment.Comment) {
	record := stream.Record{Position: stream.PositionOf("2026-01-01T00:00:00.000", fmt.Sprint(sequence)), Created: time.Now()}
	var id comment.ID
	if before != nil {
		record.Old, id = layout.Encode(*before), before.ID
	}
	switch {
	case after != nil:
		record.New, id = layout.Encode(*after), after.ID
	case sequence%2 == 0: // otherwise it is an item deleted by hand
		record.New = layout.Tombstone(id, "", time.Now())
	}
	shard := &h.shards[id[len(id)-1]%2]
	*shard = append(*shard, record)
}

// checkCounted compares statistics and leaderboards with the model.
func checkCounted(t *testing.T, client *dynamodb.Client, table string, products []string, model *commenttest.Model) {
	t.Helper()
	store := dynamo.NewStore(client, table, dynamo.Options{})
	found, failed, err := store.StatsOf(t.Context(), products)
	if err != nil || len(failed) > 0 {
		t.Fatal(err, failed)
	}
	languages := map[comment.Language]bool{"": true}
	for _, product := range products {
		want := model.Stats(product)
		check.Equal(t, want, wholeGrid(t, store, product, found[product], slices.Collect(maps.Keys(want))), "statistics of", product)
		checkNewest(t, store, product, model)
		for language := range want {
			languages[language] = true
		}
	}
	for language := range languages {
		got, err := store.Leaders(t.Context(), language, 100)
		if diff := cmp.Diff(model.Leaders(language, 100), got); err != nil || diff != "" {
			t.Errorf("leaderboard of %q: %v %s", language, err, diff)
		}
	}
}

// checkNewest checks that no comment of a product is newer than its bound in the statistics, and
// that a position they call the exact newest of a rating is right.
func checkNewest(t *testing.T, store *dynamo.Store, product string, model *commenttest.Model) {
	t.Helper()
	read := must.Get(store.Latest(t.Context(), product))(t)
	list := model.List(product, comment.Filter{}, comment.NewestFirst)
	if read.Newest == nil && len(list) > 0 {
		t.Errorf("when the newest comments of %q were written is not known", product)
		return
	}
	seen := map[int]bool{}
	for _, c := range list {
		of := comment.Filter{Languages: []comment.Language{c.Language}, Ratings: []int{c.Rating}}
		if bound := read.Newest.Of(of, read.Stats); bound.Compare(c.ID.Position()) < 0 {
			t.Errorf("%s is newer than %v, the bound of %v", c.ID, bound.Time(), of)
		}
		if rated := read.Newest.Rated(of.Ratings); !seen[c.Rating] && rated.Exact && rated.Position != c.ID.Position() {
			t.Errorf("%s is the newest with its rating, not %v", c.ID, rated.Position)
		}
		seen[c.Rating] = true
	}
}

// wholeGrid returns the counts of all languages, including those that share a row. It checks that
// the row is their sum.
func wholeGrid(t *testing.T, store *dynamo.Store, product string, stats comment.Stats, languages []comment.Language) comment.Stats {
	t.Helper()
	grid, sum := stats.Clone(), comment.Stats{}
	delete(grid, comment.OtherLanguages)
	if len(grid) > comment.MaxLanguageRows {
		t.Errorf("%d languages of %q have rows", len(grid), product)
	}
	others := stats.Others(languages)
	slices.Sort(others)
	for part := range slices.Chunk(others, call.MaxKeysPerGet) {
		keys := make([]comment.ProductLanguage, len(part))
		for i, language := range part {
			keys[i] = comment.ProductLanguage{Product: product, Language: language}
		}
		rows, failed, err := store.RowsOf(t.Context(), keys)
		if err != nil || len(failed) > 0 {
			t.Fatal(err, failed)
		}
		for key, row := range rows {
			sum[key.Language], grid[key.Language] = row, row
		}
	}
	if got, want := stats[comment.OtherLanguages].Counts, sum.Counts(comment.Filter{}); got != want {
		t.Errorf("languages of %q that share a row have %v there, and a sum of %v", product, got, want)
	}
	return grid
}

// Readers come and go, start at or before the place reached so far, and apply old batches long
// after other readers. The counts are as if one reader had read everything once.
func TestCountsAreExact(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		r := commenttest.Rand(t)
		client := call.NewLocalClient(endpoint)
		for range commenttest.Times(1, 20) {
			table := newTable(t, client)
			h := newHistory(r, 300)
			replay(t, r, counts.NewCounter(client, table, counts.CounterOptions{}), h)
			checkCounted(t, client, table, historicProducts, h.model)
		}
	})
}

// handle has a counter count records.
func handle(t testing.TB, counter *counts.Counter, records ...stream.Record) {
	t.Helper()
	must.Do(t, counter.Handle(t.Context(), records))
}

func replay(t *testing.T, r *rand.Rand, counter *counts.Counter, h *history) {
	t.Helper()
	var reached [2]int
	var inHand [][]stream.Record // batches that a reader applies late
	for reached[0] < len(h.shards[0]) || reached[1] < len(h.shards[1]) {
		var group errgroup.Group
		for shard, records := range h.shards {
			start := r.IntN(reached[shard] + 1)
			end := min(start+r.IntN(60), len(records))
			batch := records[start:end]
			if r.IntN(3) == 0 {
				inHand = append(inHand, records[start:min(end, reached[shard]+1)])
			}
			reached[shard] = max(reached[shard], end)
			group.Go(func() error { return counter.Handle(t.Context(), batch) })
		}
		if n := len(inHand); n > 0 && r.IntN(2) == 0 {
			late := inHand[r.IntN(n)]
			group.Go(func() error { return counter.Handle(t.Context(), late) })
		}
		must.Do(t, group.Wait())
	}
	for _, late := range inHand {
		handle(t, counter, late...)
	}
}

// newTableAt returns a client of an engine, and the name of an empty table there.
func newTableAt(t testing.TB, endpoint string) (*dynamodb.Client, string) {
	t.Helper()
	client := call.NewLocalClient(endpoint)
	return client, newTable(t, client)
}

func newTable(t testing.TB, client *dynamodb.Client) string {
	t.Helper()
	table := dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, table))
	return table
}

// BenchmarkCount counts comments of one product, and of many, in batches of different sizes.
func BenchmarkCount(b *testing.B) {
	client := call.NewLocalClient(dynamotest.Dynoxide(b))
	for _, products := range []int{1, 1000} {
		for _, size := range []int{1, 25, 100, 1000} {
			b.Run(fmt.Sprintf("products=%d/batch=%d", products, size), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				counter := counts.NewCounter(client, newTable(b, client), counts.CounterOptions{})
				sequence := 0
				for b.Loop() {
					h := &history{}
					for range size {
						c := commenttest.Random(r, fmt.Sprint("p", r.IntN(products)))
						sequence++
						h.add(sequence, nil, &c)
					}
					handle(b, counter, slices.Concat(h.shards[0], h.shards[1])...)
				}
				b.ReportMetric(float64(b.N*size)/b.Elapsed().Seconds(), "comments/s")
			})
		}
	}
}
