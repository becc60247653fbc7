package loaders_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/loaders"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// getter answers by a function, and records its calls.
type getter struct {
	mu    sync.Mutex
	calls [][]comment.ID
	get   func(ctx context.Context, call int, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error)
}

func (g *getter) CommentsByID(ctx context.Context, ids []comment.ID, _ bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	g.mu.Lock()
	g.calls = append(g.calls, slices.Clone(ids))
	call := len(g.calls)
	g.mu.Unlock()
	return g.get(ctx, call, ids)
}

// nobody has no statistics.
func nobody(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
	return nil, nil, nil
}

// newLoaders returns loaders. Without other options, each comment exists and nobody has statistics.
func newLoaders(o loaders.Options) *loaders.Loaders {
	if o.Comments == nil {
		o.Comments = (&getter{get: all}).CommentsByID
	}
	if o.Stats == nil {
		o.Stats = nobody
	}
	return loaders.New(o)
}

func all(_ context.Context, _ int, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	found := map[comment.ID]comment.Comment{}
	for _, id := range ids {
		found[id] = comment.Comment{ID: id}
	}
	return found, nil, nil
}

func id(n int) comment.ID { return comment.IDOf(comment.Position{15: byte(n), 14: byte(n >> 8)}) }

// ask loads many ids at once, as the fields of one level do.
func ask(ctx context.Context, l *loaders.Loaders, ids []comment.ID) ([]*comment.Comment, []error) {
	comments, errs := make([]*comment.Comment, len(ids)), make([]error, len(ids))
	var group sync.WaitGroup
	for i, id := range ids {
		group.Go(func() { comments[i], errs[i] = l.Comment(ctx, id, false) })
	}
	group.Wait()
	return comments, errs
}

// Keys that are asked for at once are fetched together, each once, and at most a hundred in a call.
func TestManyAskAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, ids := &getter{get: all}, []comment.ID{id(1), id(2)}
		for n := range 250 {
			ids = append(ids, id(n))
		}
		comments, errs := ask(t.Context(), newLoaders(loaders.Options{Comments: g.CommentsByID}), ids)
		for i := range ids {
			if errs[i] != nil || comments[i].ID != ids[i] {
				t.Errorf("asked for %s, got %v, %v", ids[i], comments[i], errs[i])
			}
		}
		if calls := g.calls; len(calls) != 3 || len(calls[0]) != 100 || len(calls[1]) != 100 || len(calls[2]) != 50 {
			t.Errorf("calls %v, want three for 250 different ids", calls)
		}
	})
}

func TestWhatOneKeyGets(t *testing.T) {
	busy := errors.New("busy")
	g := &getter{get: func(context.Context, int, []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
		return map[comment.ID]comment.Comment{id(1): {ID: id(1)}}, map[comment.ID]error{id(2): busy}, nil
	}}
	comments, errs := ask(t.Context(), newLoaders(loaders.Options{Comments: g.CommentsByID}), []comment.ID{id(1), id(2), id(3)})
	if comments[0] == nil || errs[0] != nil {
		t.Errorf("found: %v, %v", comments[0], errs[0])
	}
	if comments[1] != nil || !errors.Is(errs[1], busy) {
		t.Errorf("failed: %v, %v; want its own error", comments[1], errs[1])
	}
	if comments[2] != nil || errs[2] != nil {
		t.Errorf("missing: %v, %v; want neither", comments[2], errs[2])
	}
}

func TestFailuresAreNotRemembered(t *testing.T) {
	g := &getter{get: func(ctx context.Context, call int, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
		switch call {
		case 1:
			return nil, nil, errors.New("broken")
		case 2:
			panic("a bug of ours")
		}
		return all(ctx, call, ids)
	}}
	l := newLoaders(loaders.Options{Comments: g.CommentsByID})
	for range 2 {
		if _, err := l.Comment(t.Context(), id(1), false); err == nil {
			t.Error("the failure of a call is no error")
		}
	}
	if c, err := l.Comment(t.Context(), id(1), false); c == nil || err != nil {
		t.Errorf("after two failures: %v, %v", c, err)
	}
	if _, err := l.Comment(t.Context(), id(1), false); err != nil || len(g.calls) != 3 {
		t.Errorf("%v after %d calls; what was found is remembered", err, len(g.calls))
	}
}

// A caller that gives up does not wait for the batch, and does not end it for others.
func TestOneCallerGoesAway(t *testing.T) {
	proceed := make(chan struct{})
	started := make(chan struct{})
	g := &getter{get: func(ctx context.Context, call int, ids []comment.ID) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
		close(started)
		<-proceed
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("the batch ended with its first caller: %w", err)
		}
		return all(ctx, call, ids)
	}}
	l := newLoaders(loaders.Options{Comments: g.CommentsByID})
	first, leave := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := l.Comment(first, id(1), false)
		left <- err
	}()
	<-started
	leave()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("who went away got %v", err)
	}
	stayed := make(chan error)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err := l.Comment(ctx, id(1), false)
		stayed <- err
	}()
	close(proceed)
	if err := <-stayed; err != nil {
		t.Errorf("who stayed got %v", err)
	}
}

func TestContextWithoutLoaders(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a request without loaders went unnoticed")
		}
	}()
	loaders.From(t.Context())
}

// All fields of a request have the same loaders.
func TestLoadersAreMadeOnce(t *testing.T) {
	ctx := loaders.With(t.Context(), loaders.Options{Stats: nobody})
	if first := loaders.From(ctx); loaders.From(ctx) != first {
		t.Error("two fields have loaders of their own")
	}
}

// After one failure, each load returns its own error. A caller that gives up waits for nothing.
func TestStatsOfAll(t *testing.T) {
	get := func(_ context.Context, products []string) (map[string]comment.Stats, map[string]error, error) {
		found, failed := map[string]comment.Stats{}, map[string]error{}
		for _, product := range products {
			switch product {
			case "broken":
				failed[product] = errors.New("broken")
			case "pan":
				found[product] = comment.Stats{"en": {Counts: comment.Counts{1}}}
			}
		}
		return found, failed, nil
	}
	l := newLoaders(loaders.Options{Stats: get})
	stats, whole := l.StatsOfAll(t.Context(), []string{"nothing", "pan", "pan"})
	if !whole || len(stats) != 3 || stats[0] != nil || stats[1].Total() != 1 {
		t.Errorf("got %v, %t", stats, whole)
	}
	if _, whole := l.StatsOfAll(t.Context(), []string{"pan", "broken"}); whole {
		t.Error("a failure went unnoticed")
	}
	if _, err := l.Stats(t.Context(), "broken"); err == nil {
		t.Error("a failure was forgotten")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, whole := l.StatsOfAll(gone, []string{"another"}); whole {
		t.Error("the caller that went away waited")
	}
}

// manyLanguages has a product whose statistics list one of its languages.
type manyLanguages struct{ calls [][]comment.ProductLanguage }

func (*manyLanguages) StatsOf(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
	return map[string]comment.Stats{"pan": {"de": {Counts: comment.Counts{1}}, comment.OtherLanguages: {Counts: comment.Counts{7}}}}, nil, nil
}

func (g *manyLanguages) RowsOf(_ context.Context, keys []comment.ProductLanguage) (map[comment.ProductLanguage]comment.Row, map[comment.ProductLanguage]error, error) {
	g.calls = append(g.calls, keys)
	return map[comment.ProductLanguage]comment.Row{{Product: "pan", Language: "is"}: {Counts: comment.Counts{0, 3}}}, nil, nil
}

// Counts of languages that the statistics do not list are fetched together. They are in no other
// answer.
func TestStatisticsOfUnlistedLanguages(t *testing.T) {
	g, upTo := &manyLanguages{}, time.Now()
	l := newLoaders(loaders.Options{
		Stats: g.StatsOf, Rows: g.RowsOf,
		Freshness: func(context.Context) (time.Time, bool) { return upTo, true },
	})
	got, err := l.Statistics(t.Context(), "pan", comment.Filter{Languages: []comment.Language{"de", "fo", "is"}})
	if err != nil || got.Counts != (comment.Counts{1, 3}) || got.AsOf == nil || !got.AsOf.Equal(upTo) {
		t.Errorf("%+v, %v", got, err)
	}
	if len(g.calls) != 1 || len(g.calls[0]) != 2 {
		t.Errorf("calls %v, want one for two languages", g.calls)
	}
	if stats, err := l.Stats(t.Context(), "pan"); err != nil || len(stats) != 2 {
		t.Errorf("the statistics became %v, %v", stats, err)
	}
}

// However many keys are asked for, only their batch and its clock are goroutines.
func TestKeysTakeNoGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, products := newLoaders(loaders.Options{}), make([]string, 50)
		for i := range products {
			products[i] = fmt.Sprint("pan-", i)
		}
		before := runtime.NumGoroutine()
		l.ExpectStats(t.Context(), products...)
		if more := runtime.NumGoroutine() - before; more > 5 {
			t.Errorf("%d goroutines wait for %d keys", more, len(products))
		}
		l.StatsOfAll(t.Context(), products)
	})
}

// A vote that was cast is known, although a read that began before it fails after it.
func TestVotedDuringARead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, key := 0, comment.VoteKey{Customer: "ada"}
		l := newLoaders(loaders.Options{Votes: func(context.Context, []comment.VoteKey) (map[comment.VoteKey]comment.CastVote, map[comment.VoteKey]error, error) {
			calls++
			time.Sleep(5 * time.Second)
			return nil, nil, errors.New("the table is away")
		}})
		go func() { _, _ = l.Vote(t.Context(), key) }()
		time.Sleep(time.Second)
		l.Voted(key, comment.Helpful)
		time.Sleep(5 * time.Second)
		if vote, err := l.Vote(t.Context(), key); vote != comment.Helpful || err != nil || calls != 1 {
			t.Errorf("%v, %v after %d calls", vote, err, calls)
		}
	})
}

// A later field of a mutation reads again what an earlier one has read, once the earlier reads have
// ended.
func TestForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &getter{get: all}
		ctx := loaders.With(t.Context(), loaders.Options{Comments: g.CommentsByID, Stats: func(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
			time.Sleep(time.Second)
			return nil, nil, nil
		}})
		for range 2 {
			must.Get(loaders.From(ctx).Comment(ctx, id(1), false))(t)
			loaders.From(ctx).ExpectStats(ctx, "pan")
			began := time.Now()
			loaders.Forget(ctx)
			if took := time.Since(began); took < time.Second {
				t.Errorf("a read was left alone after %v", took)
			}
		}
		if len(g.calls) != 2 {
			t.Errorf("%d calls, want one of each field", len(g.calls))
		}
	})
}

// An answer is the same for all callers unless a field says that it is not.
func TestSubject(t *testing.T) {
	l := newLoaders(loaders.Options{})
	l.About("pot", "pan")
	l.About("pan")
	if products, forAll := l.Subject(); !slices.Equal(products, []string{"pan", "pot"}) || !forAll {
		t.Errorf("about %v, for all callers: %v", products, forAll)
	}
	l.ForCaller()
	if _, forAll := l.Subject(); forAll {
		t.Error("what one caller may see is shown to all")
	}
}

// Loads under way are awaited, except when no field asked for anything, or the time is over.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := loaders.With(t.Context(), loaders.Options{Stats: func(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
			time.Sleep(time.Second)
			return nil, nil, errors.New("the table is away")
		}})
		began := time.Now()
		loaders.Await(ctx)
		loaders.Await(t.Context())
		if took := time.Since(began); took > 0 {
			t.Errorf("it took %v to wait for nothing", took)
		}
		loaders.From(ctx).ExpectStats(ctx, "pan", "pot")
		short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
		defer cancel()
		loaders.Await(short)
		if took := time.Since(began); took != 10*time.Millisecond {
			t.Errorf("it was waited for %v", took)
		}
		loaders.Await(ctx)
		if took := time.Since(began); took < time.Second {
			t.Errorf("it was waited for %v", took)
		}
	})
}
