package counts_test

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/runs"
	"github.com/talkback/talkback/pageindex/table"
)

// life is the history of one product's comments.
type life struct {
	history
	r       *rand.Rand
	product string
	changes int
	clock   time.Time
}

func newLife(r *rand.Rand, product string) *life {
	return &life{
		history: history{model: commenttest.NewModel()}, r: r, product: product,
		clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// comment returns a comment of the newest time or, if it is old, of any earlier time. Many share a
// millisecond.
func (l *life) comment(old bool) comment.Comment {
	at := l.clock
	if old {
		at = at.Add(-time.Duration(l.r.IntN(300)) * time.Second)
	}
	if l.r.IntN(3) == 0 {
		l.clock = l.clock.Add(time.Second)
	}
	var distinct [10]byte
	for i := range distinct {
		distinct[i] = byte(l.r.Uint32())
	}
	c := comment.Comment{ID: comment.IDOf(comment.PositionAt(at, distinct)), ProductID: l.product, Version: 1}
	return l.rate(c)
}

// rate gives a comment a random language and rating. It makes a third of them verified, and lets a
// quarter show votes, which a verification and a rebuild count one comment after the other.
func (l *life) rate(c comment.Comment) comment.Comment {
	c.Language = []comment.Language{"de", "en", "en", "en", "fr", "zh"}[l.r.IntN(6)]
	c.Rating, c.Verified = 1+l.r.IntN(comment.MaxRating), l.r.IntN(3) == 0
	if l.r.IntN(4) > 0 {
		return c
	}
	return commenttest.Voted(l.r, []comment.Comment{c})[0]
}

// add adds number new comments.
func (l *life) add(number int, old bool) {
	for range number {
		l.note(nil, new(l.comment(old)))
	}
}

// change makes number random changes.
func (l *life) change(number int) {
	for range number {
		l.note(l.history.change(l.r, l.model.All(), func(string) comment.Comment { return l.comment(true) }))
	}
}

func (l *life) note(before, after *comment.Comment) {
	l.changes++
	l.history.add(l.changes, before, after)
	apply(l.model, before, after)
}

// some makes some changes.
func (l *life) some() {
	switch l.r.IntN(5) {
	case 0:
		l.add(1+l.r.IntN(150), false)
	case 1:
		l.add(1+l.r.IntN(60), true)
	case 2:
		l.change(1)
	default:
		l.change(1 + l.r.IntN(60))
	}
}

// reader hands over the records of a life.
type reader struct {
	*life
	reached [2]int
}

// count counts all new records, by both shards at once, together with some that were counted just
// before, and then some old ones.
func (rd *reader) count(ctx context.Context, counter *counts.Counter) error {
	group, ctx := errgroup.WithContext(ctx)
	for shard, records := range rd.shards {
		start := max(0, rd.reached[shard]-rd.r.IntN(30))
		rd.reached[shard] = len(records)
		old := records[:min(len(records), rd.r.IntN(20))]
		group.Go(func() error {
			if err := counter.Handle(ctx, records[start:]); err != nil {
				return err
			}
			return counter.Handle(ctx, old)
		})
	}
	return group.Wait()
}

func (rd *reader) mustCount(t *testing.T, counter *counts.Counter) {
	t.Helper()
	must.Do(t, rd.count(t.Context(), counter))
}

// keeping returns a counter that keeps the index of page numbers.
func keeping(client *dynamodb.Client, name string) *counts.Counter {
	return counts.NewCounter(client, name, counts.CounterOptions{Pages: table.New(client, name), Logger: slog.New(slog.DiscardHandler)})
}

// headOf returns the head of a product's page index, the zero Head if there is none.
func headOf(t *testing.T, client *dynamodb.Client, name, product string) runs.Head {
	t.Helper()
	statistics := vandal{t: t, client: client, table: name}.get("P#"+product, "S")
	return must.Get(runs.DecodeHead(layout.BytesOf(statistics, layout.AttrHead)))(t)
}

// checkIndex fails unless the product has an index whose runs have the right counts. It returns the
// index's head.
func checkIndex(t *testing.T, client *dynamodb.Client, name string, l *life) runs.Head {
	t.Helper()
	checkRuns(t, must.Get(table.New(client, name).Runs(t.Context(), l.product))(t), l.model.All())
	head := headOf(t, client, name, l.product)
	if !head.Exists() {
		t.Fatal("no head")
	}
	return head
}

// checkRuns fails unless each run counts the comments of a product that are in it.
func checkRuns(t *testing.T, all []runs.Run, comments []comment.Comment) {
	t.Helper()
	for i, run := range all {
		want := comment.Stats{}
		for _, c := range comments {
			if p := c.ID.Position(); p.Compare(run.From) >= 0 && p.Compare(run.End) < 0 {
				want.Add(c.Cell(), 1)
			}
		}
		check.Equal(t, want, run.Counts, "run", i, "of", len(all))
	}
}

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
// network does, whatever is replayed, and however many processes count. Sometimes a counter that
// does not keep the index drops it.
func TestRanksAreCounted(t *testing.T) {
	r := commenttest.Rand(t)
	direct, name := newTableAt(t, dynamotest.Dynoxide(t))
	client, network := faulttest.Under(direct, faulttest.OneIn(r, 15))
	counter, rd := keeping(client, name), &reader{life: newLife(r, "p")}
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
		checkIndex(t, direct, name, rd.life)
		checkRanks(t, r, direct, name, rd.product, rd.model)
		if t.Failed() {
			t.Fatalf("step %d", step)
		}
	}
	checkCounted(t, direct, name, []string{rd.product}, rd.model)
}

// If the index is missing or incomplete, it starts anew with all comments. It never trusts what was
// counted without it.
func TestIndexStartsAnew(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := newVandal(t, client)
	rd := &reader{life: newLife(commenttest.Rand(t), "p")}
	var said bytes.Buffer
	with, without := keeping(client, v.table), counts.NewCounter(client, v.table, counts.CounterOptions{Logger: slog.New(slog.NewTextHandler(&said, nil))})
	countWithout := func() {
		rd.add(200, false)
		rd.mustCount(t, without)
	}
	var before runs.Head
	for i, row := range []struct {
		why string
		do  func()
	}{
		{"it was never kept", countWithout},
		{"others counted without it", countWithout},
		{"the head cannot be read", func() { v.update("P#p", "S", "SET i = :a", layout.Binary([]byte("?"))) }},
		{"the head is a text", func() { v.update("P#p", "S", "SET i = :a", text("?")) }},
	} {
		row.do()
		rd.add(1, true)
		rd.mustCount(t, with)
		with.AwaitMerges(t.Context())
		head := checkIndex(t, client, v.table, rd.life)
		if head.First <= before.First {
			t.Errorf("%s: the index has not started anew", row.why)
		}
		if dropped := strings.Count(said.String(), "page numbers in the table are dropped"); dropped != min(i, 1) {
			t.Errorf("%s: the log says %d times that an index is dropped: %s", row.why, dropped, &said)
		}
		before = head
	}
}
