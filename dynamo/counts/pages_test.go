package counts_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
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
	"github.com/talkback/talkback/pageindex/runs"
)

// life is the history of one product's comments.
type life struct {
	history
	r       *rand.Rand
	product string
	changes int
	gone    []comment.Comment
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

// rate gives a comment a random language, rating and votes, and makes a third of them verified.
func (l *life) rate(c comment.Comment) comment.Comment {
	c.Language = []comment.Language{"de", "en", "en", "en", "fr", "zh"}[l.r.IntN(6)]
	c.Rating, c.Verified = 1+l.r.IntN(comment.MaxRating), l.r.IntN(3) == 0
	return commenttest.Voted(l.r, []comment.Comment{c})[0]
}

// add adds number new comments.
func (l *life) add(number int, old bool) {
	for range number {
		fresh := l.comment(old)
		l.model.Insert(fresh)
		l.note(nil, &fresh)
	}
}

// change edits, deletes or revives number comments.
func (l *life) change(number int) {
	for range number {
		there := l.model.All()
		if n := len(l.gone); n > 0 && l.r.IntN(4) == 0 {
			back := l.rate(l.gone[n-1])
			l.gone = l.gone[:n-1]
			l.model.Insert(back)
			l.note(nil, &back)
			continue
		}
		if len(there) == 0 {
			return
		}
		before := there[l.r.IntN(len(there))]
		if l.r.IntN(2) == 0 {
			l.delete(before)
			continue
		}
		after := l.rate(before)
		l.model.Replace(after)
		l.note(&before, &after)
	}
}

func (l *life) delete(c comment.Comment) {
	l.model.Delete(c.ID)
	l.gone = append(l.gone, c)
	l.note(&c, nil)
}

func (l *life) note(before, after *comment.Comment) {
	l.changes++
	l.history.add(l.changes, before, after)
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

// unmerged is a page index whose log is never merged. It records the products that are due for a
// merge.
type unmerged struct {
	client *dynamodb.Client
	table  string
	mu     sync.Mutex
	due    []string
}

// Merge does nothing, so the whole log stays.
func (u *unmerged) Merge(_ context.Context, product string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.due = append(u.due, product)
	return nil
}

// Runs returns the runs made from the head and the whole log.
func (u *unmerged) Runs(ctx context.Context, product string) ([]runs.Run, error) {
	statistics, err := u.item(ctx, layout.ProductKey(product, layout.StatisticsSK))
	if err != nil {
		return nil, err
	}
	head, err := runs.DecodeHead(bytesIn(statistics, layout.AttrHead))
	if err != nil {
		return nil, err
	}
	all := []runs.Run{}
	for n := head.First + 1; n <= head.Last; n++ {
		it, err := u.item(ctx, layout.PagesKey(product, layout.LogEntrySK(n)))
		if err != nil {
			return nil, err
		}
		entry, err := runs.DecodeEntry(n, bytesIn(it, layout.AttrPages))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", runs.ErrTorn, err)
		}
		for _, c := range entry.Changes {
			move(runAt(all, c.Position).Counts, c)
		}
		if entry.Sealed != nil {
			all = append(all, *entry.Sealed)
		}
	}
	return append(all, runs.Run{From: head.Bound, End: comment.MaxPosition, Counts: head.Counts}), nil
}

func (u *unmerged) item(ctx context.Context, key layout.Item) (layout.Item, error) {
	output, err := u.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &u.table, Key: key, ConsistentRead: aws.Bool(true)})
	if err != nil {
		return nil, err
	}
	return output.Item, nil
}

// bytesIn returns a binary attribute, nil for none.
func bytesIn(it layout.Item, attr string) []byte {
	if value, ok := it[attr].(*types.AttributeValueMemberB); ok {
		return value.Value
	}
	return nil
}

// keeping returns a counter that keeps the index of page numbers.
func keeping(client *dynamodb.Client, u *unmerged) *counts.Counter {
	return counts.NewCounter(client, u.table, counts.CounterOptions{Pages: u, Logger: slog.New(slog.DiscardHandler)})
}

// head returns the head of a product's page index, the zero Head if there is none.
func (u *unmerged) head(t *testing.T, product string) runs.Head {
	t.Helper()
	it := must.Get(u.item(t.Context(), layout.ProductKey(product, layout.StatisticsSK)))(t)
	return must.Get(runs.DecodeHead(bytesIn(it, layout.AttrHead)))(t)
}

// check fails unless the product has an index whose head and runs have the right counts.
func (u *unmerged) check(t *testing.T, l *life) runs.Head {
	t.Helper()
	checkRuns(t, must.Get(u.Runs(t.Context(), l.product))(t), l.model.All())
	head := u.head(t, l.product)
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

func runAt(all []runs.Run, p comment.Position) runs.Run {
	for _, run := range all {
		if p.Compare(run.From) >= 0 && p.Compare(run.End) < 0 {
			return run
		}
	}
	return runs.Run{Counts: comment.Stats{}}
}

func move(counts comment.Stats, c runs.Change) {
	if c.From != nil {
		counts.Add(*c.From, -1)
	}
	if c.To != nil {
		counts.Add(*c.To, 1)
	}
}

// After each batch the index has the counts of the comments, whatever the network does, whatever is
// replayed, and however many processes count.
func TestIndexIsCounted(t *testing.T) {
	r := commenttest.Rand(t)
	direct, table := newTableAt(t, dynamotest.Dynoxide(t))
	client, network := faulttest.Under(direct, faulttest.OneIn(r, 12))
	u := &unmerged{client: direct, table: table}
	counter, rd := keeping(client, u), &reader{life: newLife(r, "p")}
	rd.add(200, false)
	for range commenttest.Times(25, 200) {
		rd.some()
		must.Do(t, rd.count(t.Context(), counter))
		must.Do(t, network.Flush())
		u.check(t, rd.life)
		if t.Failed() {
			return
		}
	}
	checkCounted(t, direct, table, []string{rd.product}, rd.model)
	counter.AwaitMerges(t.Context())
	if head := u.head(t, rd.product); head.Last-head.First < 5 || len(u.due) == 0 {
		t.Errorf("%d entries in the log, %d merges: too little happened", head.Last-head.First, len(u.due))
	}
}

// If the index is missing or incomplete, it starts anew with all comments. It never trusts what was
// counted without it.
func TestIndexStartsAnew(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	v := vandal{t: t, client: client, table: newTable(t, client)}
	rd := &reader{life: newLife(commenttest.Rand(t), "p")}
	u := &unmerged{client: client, table: v.table}
	with, without := keeping(client, u), counts.NewCounter(client, v.table, counts.CounterOptions{})
	var before runs.Head
	for _, row := range []struct {
		why string
		do  func()
	}{
		{"it was never kept", func() {
			rd.add(200, false)
			rd.mustCount(t, without)
		}},
		{"others counted without it", func() {
			rd.add(200, false)
			rd.mustCount(t, without)
		}},
		{"the head cannot be read", func() {
			v.update("P#p", "S", "SET i = :a", &types.AttributeValueMemberB{Value: []byte("?")})
		}},
		{"the head is a text", func() {
			v.update("P#p", "S", "SET i = :a", text("?"))
		}},
	} {
		row.do()
		rd.add(1, true)
		rd.mustCount(t, with)
		head := u.check(t, rd.life)
		if head.First <= before.First {
			t.Errorf("%s: the index has not started anew", row.why)
		}
		before = head
	}
}

// Once all comments of a product are deleted, it has no head, and a merge falls due that deletes
// the rest, also when the deletion is replayed.
func TestNoCommentsNoIndex(t *testing.T) {
	client := call.NewLocalClient(dynamotest.Dynoxide(t))
	u := &unmerged{client: client, table: newTable(t, client)}
	rd, counter := &reader{life: newLife(commenttest.Rand(t), "p")}, keeping(client, u)
	rd.add(10, false)
	rd.mustCount(t, counter)
	for _, c := range rd.model.All() {
		rd.delete(c)
	}
	for range 2 {
		u.due = nil
		rd.mustCount(t, counter)
		counter.AwaitMerges(t.Context())
		if head := u.head(t, "p"); head.Exists() || !slices.Contains(u.due, "p") {
			t.Errorf("head %v, merges of %q", head, u.due)
		}
		rd.reached = [2]int{}
	}
	rd.add(1, false)
	rd.mustCount(t, counter)
	u.check(t, rd.life)
}
