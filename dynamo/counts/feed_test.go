package counts_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// index keeps the last entry of each comment, as a pageindex.Store does.
type index struct {
	mu      sync.Mutex
	entries map[comment.ID]pageindex.Entry
	err     error
	fails   int // how many calls fail before the first that stores entries
}

func newIndex() *index { return &index{entries: map[comment.ID]pageindex.Entry{}} }

// Apply stores entries.
func (x *index) Apply(_ context.Context, entries []pageindex.Entry) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.fails--; x.fails >= 0 {
		return errors.New("out of paper")
	}
	for _, e := range entries {
		if id := comment.IDOf(e.Position); x.entries[id].Follows < e.Follows {
			x.entries[id] = e
		}
	}
	return x.err
}

// cells returns the cell that each comment is counted in.
func (x *index) cells() map[comment.ID]comment.Cell {
	out := map[comment.ID]comment.Cell{}
	for id, e := range x.entries {
		if e.Cell != nil {
			out[id] = *e.Cell
		}
	}
	return out
}

func cellsOf(comments []comment.Comment) map[comment.ID]comment.Cell {
	out := map[comment.ID]comment.Cell{}
	for _, c := range comments {
		out[c.ID] = c.Cell()
	}
	return out
}

// Whatever is replayed or arrives late, a store that is fed holds exactly what is counted. So does
// a store that is built from the markers: building over one that was fed changes nothing.
func TestEntriesOfMarkers(t *testing.T) {
	r := commenttest.Rand(t)
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table, fed, h := newTable(t, client), newIndex(), newHistory(r, 200)
	looked := commenttest.Many(r, "looked", 3)
	load(t, client, table, looked)
	rebuilder, counter := newRebuilder(client, table), counts.NewCounter(client, table, counts.CounterOptions{Feed: fed})
	rebuilder.Feed = fed
	must.Get(rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}))(t)
	replay(t, r, counter, h)
	entries, all, some, kept := counts.NewEntries(client, table), newIndex(), newIndex(), maps.Clone(fed.entries)
	for _, index := range []*index{all, fed} {
		must.Do(t, entries.All(t.Context(), index.Apply))
	}
	check.Equal(t, cellsOf(slices.Concat(looked, h.model.All())), fed.cells(), "fed")
	check.Equal(t, fed.cells(), all.cells(), "built")
	check.Equal(t, kept, fed.entries, "built over a store that was fed")
	must.Do(t, entries.Of(t.Context(), historicProducts[0], some.Apply))
	check.Equal(t, cellsOf(h.model.List(historicProducts[0], comment.Filter{}, comment.NewestFirst)), some.cells(), "of one product")
}

// A rebuild feeds the comments that it counts, even if the feed fails at first: those without
// records, before and after a comment that has some.
func TestRebuildFeeds(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table, fed := newTable(t, client), newIndex()
	comments := commenttest.Many(commenttest.Rand(t), "p", 3)
	load(t, client, table, comments)
	was := comments[0]
	was.Rating = was.Rating%comment.MaxRating + 1
	counter := counts.NewCounter(client, table, counts.CounterOptions{Feed: fed})
	first := stream.Record{Position: "2026/1", New: layout.Encode(was)}
	handle(t, counter, first)
	rebuilder := newRebuilder(client, table)
	rebuilder.Feed, fed.fails = fed, 1
	must.Get(rebuilder.Run(t.Context(), func(counts.RebuildProgress) {}))(t)
	check.Equal(t, cellsOf(comments), fed.cells(), "after the rebuild")
	handle(t, counter, first)
	check.Equal(t, cellsOf(comments), fed.cells(), "after a replay")
	for i := range comments {
		comments[i].Rating = comments[i].Rating%comment.MaxRating + 1
		handle(t, counter, stream.Record{Position: "2026/2", New: layout.Encode(comments[i])})
	}
	check.Equal(t, cellsOf(comments), fed.cells(), "after the next records")
}

// A record that cannot be counted is not fed. If the feed fails, no record is blamed.
func TestWhatIsNotFed(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	table, fed := newTable(t, client), newIndex()
	counter := counts.NewCounter(client, table, counts.CounterOptions{Feed: fed})
	comments := commenttest.Many(commenttest.Rand(t), "p", 2)
	refused := layout.Encode(comments[1])
	refused["r"] = layout.Number(6)
	batch := []stream.Record{{Position: "2026/1", New: layout.Encode(comments[0])}, {Position: "2026/1", New: refused}}
	var named stream.RecordErrors
	if err := counter.Handle(t.Context(), batch); !errors.As(err, &named) || len(named) != 1 {
		t.Error(err)
	}
	check.Equal(t, cellsOf(comments[:1]), fed.cells())
	v := vandal{t: t, client: client, table: table}
	v.grid("private words")
	if err := counter.Handle(t.Context(), []stream.Record{{Position: "2026/2", New: layout.Encode(comments[1])}}); !errors.As(err, &named) || len(named) != 1 {
		t.Error(err)
	}
	check.Equal(t, cellsOf(comments[:1]), fed.cells(), "of a product whose statistics are damaged")
	v.delete("P#p", "S")
	fed.err = errors.New("out of paper")
	if err := counter.Handle(t.Context(), batch[:1]); comment.KindOf(err) != comment.Unavailable || !errors.Is(err, fed.err) {
		t.Error(err)
	}
}
