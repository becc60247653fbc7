package dynamo

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// slowRead is a read that takes a second, unless its context ends before. It counts its calls and
// those that ended early.
type slowRead struct{ made, ended atomic.Int32 }

func (r *slowRead) read(ctx context.Context) (sharedPage, error) {
	made := r.made.Add(1)
	select {
	case <-ctx.Done():
		r.ended.Add(1)
		return sharedPage{}, ctx.Err()
	case <-time.After(time.Second):
		return sharedPage{comments: make([]layout.Compressed, made)}, nil
	}
}

// counts checks how many reads were made, and how many of them ended early.
func (r *slowRead) counts(t *testing.T, made, ended int32) {
	t.Helper()
	if r.made.Load() != made || r.ended.Load() != ended {
		t.Errorf("%d reads, of which %d ended early; want %d and %d", r.made.Load(), r.ended.Load(), made, ended)
	}
}

// passenger is a caller that asks for a page while others do. Its fields are set when the group has
// finished.
type passenger struct {
	page sharedPage
	err  error
	took time.Duration
}

// fly starts a caller, and waits until it leads a read or follows one.
func fly(ctx context.Context, group *sync.WaitGroup, f *flights, r *slowRead) *passenger {
	p := &passenger{}
	group.Go(func() {
		began := time.Now()
		p.page, p.err = f.join(ctx, flightKey{queryKey: queryKey{product: "globe"}}, r.read)
		p.took = time.Since(began)
	})
	synctest.Wait()
	return p
}

// lands checks which read the passenger got its page from, and after what time.
func (p *passenger) lands(t *testing.T, read int, after time.Duration) {
	t.Helper()
	if p.err != nil || len(p.page.comments) != read || p.took != after {
		t.Errorf("got the page of read %d, %v, after %v; want that of read %d after %v", len(p.page.comments), p.err, p.took, read, after)
	}
}

// Callers of the same query share a read that is under way. A caller of another query, a later
// caller, and a caller after a change do not share it.
func TestFlightsAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var r slowRead
		var group sync.WaitGroup
		for i := range 10 {
			group.Go(func() {
				_, _ = f.join(t.Context(), flightKey{queryKey: queryKey{product: "globe", size: i % 2}}, r.read)
			})
		}
		group.Wait()
		r.counts(t, 2, 0)
		fly(t.Context(), &group, &f, &r)
		r.counts(t, 3, 0)
		group.Go(func() {
			_, _ = f.join(t.Context(), flightKey{queryKey: queryKey{product: "globe"}, changes: 1}, r.read)
		})
		group.Wait()
		r.counts(t, 4, 0)
		if len(f.under) > 0 {
			t.Errorf("%d reads are kept that have ended", len(f.under))
		}
	})
}

// A caller that stops waiting does not end the read for the others. If it made the first call, the
// others share a second read.
func TestFlightsOfThoseWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var r slowRead
		var group sync.WaitGroup
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		leader := fly(first, &group, &f, &r)
		follower := fly(second, &group, &f, &r)
		stays := fly(t.Context(), &group, &f, &r)
		leaveSecond()
		synctest.Wait()
		r.counts(t, 1, 0)
		another := fly(t.Context(), &group, &f, &r)
		leaveFirst()
		group.Wait()
		stays.lands(t, 2, time.Second)
		another.lands(t, 2, time.Second)
		r.counts(t, 2, 1)
		for _, left := range []*passenger{leader, follower} {
			if !errors.Is(left.err, context.Canceled) || left.took > 0 {
				t.Errorf("a caller that left got %v after %v", left.err, left.took)
			}
		}
	})
}

// A read ends when no caller waits for it any more, and later callers do not join it.
func TestFlightsThatNobodyWaitsFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var r slowRead
		var group sync.WaitGroup
		first, leaveFirst := context.WithCancel(t.Context())
		second, leaveSecond := context.WithCancel(t.Context())
		fly(first, &group, &f, &r)
		fly(second, &group, &f, &r)
		leaveSecond()
		leaveFirst()
		synctest.Wait()
		later := fly(t.Context(), &group, &f, &r)
		r.counts(t, 2, 1)
		group.Wait()
		later.lands(t, 2, time.Second)
	})
}

// The deadline of the leader does not apply to its followers: when it passes, they share a second
// read.
func TestFlightsWhoseLeaderHasNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var r slowRead
		var group sync.WaitGroup
		short, cancel := context.WithTimeout(t.Context(), time.Second/4)
		defer cancel()
		leader := fly(short, &group, &f, &r)
		one, two := fly(t.Context(), &group, &f, &r), fly(t.Context(), &group, &f, &r)
		group.Wait()
		if !errors.Is(leader.err, context.DeadlineExceeded) {
			t.Errorf("the leader without time got %v", leader.err)
		}
		one.lands(t, 2, time.Second*5/4)
		two.lands(t, 2, time.Second*5/4)
		r.counts(t, 2, 1)
	})
}

// A read may take as long as its leader's deadline allows. Without a deadline it ends after
// flightTimeout.
func TestFlightsTakeTheirTime(t *testing.T) {
	for _, test := range []struct{ deadline, want time.Duration }{
		{deadline: time.Hour, want: time.Hour},
		{want: flightTimeout},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if test.deadline > 0 {
				bounded, cancel := context.WithTimeout(ctx, test.deadline)
				defer cancel()
				ctx = bounded
			}
			began := time.Now()
			var f flights
			_, err := f.join(ctx, flightKey{}, func(ctx context.Context) (sharedPage, error) {
				<-ctx.Done()
				return sharedPage{}, ctx.Err()
			})
			if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != test.want {
				t.Errorf("a read without end took %v, of %v: %v", took, test.want, err)
			}
		})
	}
}

// An error or a panic of a read is an error for all its callers. The read has the values of the
// leader's context.
func TestFlightsThatFail(t *testing.T) {
	type key struct{}
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var group sync.WaitGroup
		var failed atomic.Int32
		ctx := context.WithValue(t.Context(), key{}, "of the request")
		for range 3 {
			group.Go(func() {
				_, err := f.join(ctx, flightKey{}, func(ctx context.Context) (sharedPage, error) {
					if time.Sleep(time.Second); ctx.Value(key{}) != "of the request" {
						t.Error("the read lost what belongs to the request")
					}
					panic("a bug of ours")
				})
				if err != nil {
					failed.Add(1)
				}
			})
		}
		group.Wait()
		if failed.Load() != 3 {
			t.Errorf("a panic was an error of %d in 3", failed.Load())
		}
	})
}

// A leader whose operation already holds too much text fails alone: its followers read again.
func TestFlightsWhoseLeaderHoldsTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f flights
		var group sync.WaitGroup
		full := comment.Errorf(comment.TooMuchText, "too much text")
		group.Go(func() {
			_, err := f.join(t.Context(), flightKey{queryKey: queryKey{product: "globe"}}, func(context.Context) (sharedPage, error) {
				time.Sleep(time.Second)
				return sharedPage{}, full
			})
			if !errors.Is(err, full) {
				t.Errorf("the leader got %v", err)
			}
		})
		synctest.Wait()
		var r slowRead
		follower := fly(t.Context(), &group, &f, &r)
		group.Wait()
		follower.lands(t, 1, 2*time.Second)
	})
}
