package loaders_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/loaders"
)

var praise, complaint = []int{4, 5}, []int{1, 2}

// critics have comment 1 of a product as the newest praise and comment 2 as the newest complaint.
// No comment has 3 stars.
type critics struct {
	comments *getter
	beside   map[comment.ID]*comment.Comment // comments that come along with statistics
	upTo     time.Time
	want     comment.Latest
	unknown  bool
}

func (c *critics) StatsAndLatest(_ context.Context, products []string, upTo time.Time, want comment.Latest) (comment.StatsAndLatest, error) {
	c.upTo, c.want = upTo, want
	return comment.StatsAndLatest{Found: map[string]comment.Stats{products[0]: {"de": {Counts: comment.Counts{1, 0, 0, 0, 1}}}}, Comments: c.beside, AsOf: upTo}, nil
}

func (c *critics) LatestByID(ctx context.Context, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, error) {
	found, _, err := c.comments.CommentsByID(ctx, ids, withoutText)
	return found, err
}

func (c *critics) Newest(_ string, ratings []int, _ int) (comment.ID, bool) {
	switch ratings[0] {
	case 4:
		return id(1), !c.unknown
	case 1:
		return id(2), !c.unknown
	}
	return "", !c.unknown
}

func written(n int, product string, rating int) *comment.Comment {
	return &comment.Comment{ID: id(n), ProductID: product, Rating: rating, Language: "de", Version: 1}
}

// The newest comments according to statistics are fetched in one call, unless they came along with
// the statistics. They are believed if they are still as they were counted.
func TestNewest(t *testing.T) {
	good, bad := written(1, "pan", 5), written(2, "pan", 1)
	for _, row := range []struct {
		why           string
		there         []*comment.Comment
		beside        map[comment.ID]*comment.Comment
		unknown       bool
		praise, blame bool // whether each is known
		calls         int
	}{
		{"both are fetched", []*comment.Comment{good, bad}, nil, false, true, true, 1},
		{"one came along", []*comment.Comment{good}, map[comment.ID]*comment.Comment{id(2): bad}, false, true, true, 1},
		{"both came along", nil, map[comment.ID]*comment.Comment{id(1): good, id(2): bad}, false, true, true, 0},
		{"one is gone", []*comment.Comment{good}, nil, false, true, false, 1},
		{"one was gone when it should have come along", []*comment.Comment{good}, map[comment.ID]*comment.Comment{id(2): nil}, false, true, false, 1},
		{"one was edited", []*comment.Comment{good, written(2, "pan", 4)}, nil, false, true, false, 1},
		{"one is of another product", []*comment.Comment{written(1, "pot", 5), bad}, nil, false, false, true, 1},
		{"nothing is known", []*comment.Comment{good, bad}, nil, true, false, false, 0},
	} {
		calls := 0
		table := &getter{get: func(_ context.Context, _ int, _ []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
			calls++
			found := map[comment.ID]comment.Comment{}
			for _, c := range row.there {
				found[c.ID] = *c
			}
			return found, nil, nil
		}}
		l := newLoaders(loaders.Options{Latest: &critics{beside: row.beside, unknown: row.unknown, comments: table}, Comments: table.CommentsByID})
		want := comment.Latest{Ratings: [][]int{praise, {3}, complaint}}
		l.WantLatest(want)
		l.ExpectStats(t.Context(), "pan")
		got := l.Newest(t.Context(), "pan", want)
		if got[0].Known != row.praise || got[2].Known != row.blame || got[1].Known == row.unknown || calls != row.calls {
			t.Errorf("%s: %+v in %d calls", row.why, got, calls)
		}
		if got[0].Known && got[0].Comment.ID != id(1) || got[2].Known && got[2].Comment.ID != id(2) || got[1].Comment != nil {
			t.Errorf("%s: %+v", row.why, got)
		}
	}
	if got := newLoaders(loaders.Options{}).Newest(t.Context(), "pan", comment.Latest{Ratings: [][]int{praise}}); got[0].Known {
		t.Errorf("%+v is known to nobody", got)
	}
}

// texts are critics whose comments have a text only if it is requested.
type texts struct{ critics }

func (*texts) LatestByID(_ context.Context, ids []comment.ID, withoutText bool) (map[comment.ID]comment.Comment, error) {
	c := *written(1, "pan", 5)
	if !withoutText {
		c.Text = "It pours well."
	}
	return map[comment.ID]comment.Comment{ids[0]: c}, nil
}

// A field that shows a text gets it, whatever another field of the request fetched before.
func TestNewestWithTextBesideOneWithout(t *testing.T) {
	for _, beside := range []map[comment.ID]*comment.Comment{nil, {id(1): written(1, "pan", 5)}} {
		l := newLoaders(loaders.Options{Latest: &texts{critics{beside: beside}}})
		for _, withoutText := range []bool{true, false} {
			want := comment.Latest{Ratings: [][]int{praise}, WithoutText: withoutText}
			l.WantLatest(want)
			l.ExpectStats(t.Context(), "pan")
			got := l.Newest(t.Context(), "pan", want)
			if got[0].Comment == nil || (got[0].Comment.Text == "") != withoutText {
				t.Errorf("without text %t: %+v", withoutText, got[0].Comment)
			}
		}
	}
}

// All requested newest comments are fetched at once, with how far the statistics can be trusted.
func TestWantLatest(t *testing.T) {
	knows, upTo := &critics{}, time.Now()
	wants := []comment.Latest{
		{Ratings: [][]int{praise}, Among: 20, WithoutText: true},
		{Ratings: [][]int{complaint, praise}, Among: 5},
	}
	for range 2 { // in either order
		l := newLoaders(loaders.Options{
			Latest:    knows,
			Freshness: func(context.Context) (time.Time, bool) { return upTo, true },
		})
		for _, want := range wants {
			l.WantLatest(want)
		}
		must.Get(l.Stats(t.Context(), "pan"))(t)
		if got := knows.want; len(got.Ratings) != 2 || got.Among != 20 || got.WithoutText || !knows.upTo.Equal(upTo) {
			t.Errorf("%+v as of %v", got, knows.upTo)
		}
		slices.Reverse(wants)
	}
}

// Statistics are as fresh as the oldest of their parts, and of unknown age if nobody knows.
func TestStatsAsOf(t *testing.T) {
	upTo := time.Now()
	earlier := upTo.Add(-time.Second)
	for _, row := range []struct {
		why    string
		known  bool
		latest *aged // nil if no field wants newest comments
		want   *time.Time
	}{
		{"known", true, nil, &upTo},
		{"unknown", false, nil, nil},
		{"an earlier answer is shown again", true, &aged{asOf: earlier}, &earlier},
		{"an answer of the same age", true, &aged{asOf: upTo}, &upTo},
		{"an answer of unknown age, from a read that came after", true, &aged{}, &upTo},
	} {
		o := loaders.Options{
			Freshness: func(context.Context) (time.Time, bool) { return upTo, row.known },
		}
		if row.latest != nil {
			o.Latest = row.latest
		}
		l := newLoaders(o)
		l.WantLatest(comment.Latest{Ratings: [][]int{praise}})
		must.Get(l.Stats(t.Context(), "pan"))(t)
		if got := l.StatsAsOf(); (got == nil) != (row.want == nil) || got != nil && !got.Equal(*row.want) {
			t.Errorf("%s: as of %v, want %v", row.why, got, row.want)
		}
	}
}

// Of statistics that are fetched at the same time, the oldest count, whichever come last.
func TestStatsAsOfBatchesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		upTo := time.Now()
		l := newLoaders(loaders.Options{
			Latest:    &batches{of: map[string]batch{"pan": {2 * time.Second, upTo.Add(-time.Second)}, "pot": {time.Second, upTo.Add(-time.Minute)}}},
			Freshness: func(context.Context) (time.Time, bool) { return upTo, true },
		})
		l.WantLatest(comment.Latest{Ratings: [][]int{praise}})
		l.ExpectStats(t.Context(), "pan")
		time.Sleep(time.Second / 2) // another batch
		l.ExpectStats(t.Context(), "pot")
		if _, whole := l.StatsOfAll(t.Context(), []string{"pan", "pot"}); !whole || !l.StatsAsOf().Equal(upTo.Add(-time.Minute)) {
			t.Errorf("whole %t, as of %v", whole, l.StatsAsOf())
		}
	})
}

// A comment that comes along with statistics does not replace the one that is being fetched: a
// request waits for all its reads, and shows one state of a comment.
func TestComesAlongWhileItIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &getter{get: func(context.Context, int, []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
			time.Sleep(5 * time.Second)
			return map[comment.ID]comment.Comment{id(1): *written(1, "pan", 5)}, nil, nil
		}}
		ctx := loaders.With(t.Context(), loaders.Options{Latest: &critics{comments: table, beside: map[comment.ID]*comment.Comment{id(1): written(1, "pan", 4)}}})
		l, want, began := loaders.From(ctx), comment.Latest{Ratings: [][]int{praise}}, time.Now()
		go l.Newest(ctx, "pan", want)
		time.Sleep(time.Second)
		l.WantLatest(want)
		must.Get(l.Stats(ctx, "pan"))(t)
		loaders.Await(ctx)
		if took := time.Since(began); took < 5*time.Second {
			t.Errorf("a read was left alone after %v", took)
		}
		if got := l.Newest(ctx, "pan", want); got[0].Comment == nil || got[0].Comment.Rating != 5 {
			t.Errorf("%+v", got)
		}
	})
}

// batches are critics whose batches of statistics differ, by product.
type batches struct {
	critics
	of map[string]batch
}

// batch is how long a batch of statistics takes, and of which time they are.
type batch struct {
	takes time.Duration
	asOf  time.Time
}

func (b *batches) StatsAndLatest(_ context.Context, products []string, _ time.Time, _ comment.Latest) (comment.StatsAndLatest, error) {
	one := b.of[products[0]]
	time.Sleep(one.takes)
	return comment.StatsAndLatest{AsOf: one.asOf}, nil
}

// aged are critics whose statistics are of a certain time.
type aged struct {
	critics
	asOf time.Time
}

func (a *aged) StatsAndLatest(ctx context.Context, products []string, upTo time.Time, want comment.Latest) (comment.StatsAndLatest, error) {
	out, err := a.critics.StatsAndLatest(ctx, products, upTo, want)
	out.AsOf = a.asOf
	return out, err
}

// A page is read once for all fields of a request, also when that fails or panics.
func TestPageIsReadOnce(t *testing.T) {
	l := newLoaders(loaders.Options{})
	broken := errors.New("broken")
	for product, row := range map[string]struct {
		read func(context.Context) (comment.Page, error)
		fail bool
	}{
		"pan":  {func(context.Context) (comment.Page, error) { return comment.Page{HasNext: true}, nil }, false},
		"lid":  {func(context.Context) (comment.Page, error) { return comment.Page{}, broken }, true},
		"fire": {func(context.Context) (comment.Page, error) { panic("a bug of ours") }, true},
	} {
		var reads, failed atomic.Int64
		var callers sync.WaitGroup
		for range 5 {
			callers.Go(func() {
				defer func() { _ = recover() }()
				page, err := l.Page(t.Context(), loaders.PageKey{Product: product}, func(ctx context.Context) (comment.Page, error) {
					reads.Add(1)
					return row.read(ctx)
				})
				if err != nil {
					failed.Add(1)
				} else if !page.HasNext {
					t.Errorf("%s: another page", product)
				}
			})
		}
		callers.Wait()
		if reads.Load() != 1 || (failed.Load() > 0) != row.fail {
			t.Errorf("%s: read %d times, %d failures", product, reads.Load(), failed.Load())
		}
	}
}

// A list of no products fetches nothing. It reads the statistics' freshness beside fields that
// fetch theirs; the race detector fails the test if that is unsafe.
func TestStatsAsOfBesideStats(t *testing.T) {
	upTo := time.Now()
	l := newLoaders(loaders.Options{
		Freshness: func(context.Context) (time.Time, bool) { return upTo, true },
	})
	var fields sync.WaitGroup
	fields.Go(func() {
		if _, whole := l.StatsOfAll(t.Context(), nil); !whole {
			t.Error("the statistics of no products are not whole")
		}
		for asOf := l.StatsAsOf(); asOf == nil; asOf = l.StatsAsOf() {
			runtime.Gosched()
		}
	})
	fields.Go(func() { _, _ = l.Stats(t.Context(), "pan") })
	fields.Wait()
	if asOf := l.StatsAsOf(); !asOf.Equal(upTo) {
		t.Errorf("as of %v, want %v", asOf, upTo)
	}
}
