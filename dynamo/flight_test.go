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

// airport has callers that share reads. A read takes a second, unless its context ends before.
type airport struct {
	*testing.T
	flights     flights
	group       sync.WaitGroup // of the callers
	made, ended atomic.Int32   // reads, and those that ended early
}

// inTheAir runs a test in a synctest bubble.
func inTheAir(t *testing.T, test func(a *airport)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(&airport{T: t}) })
}

func (a *airport) read(ctx context.Context) (sharedPage, error) {
	made := a.made.Add(1)
	select {
	case <-ctx.Done():
		a.ended.Add(1)
		return sharedPage{}, ctx.Err()
	case <-time.After(time.Second):
		return sharedPage{comments: make([]layout.Compressed, made)}, nil
	}
}

// reads checks how many reads were made, and how many of them ended early.
func (a *airport) reads(made, ended int32) {
	a.Helper()
	if a.made.Load() != made || a.ended.Load() != ended {
		a.Errorf("%d reads, of which %d ended early; want %d and %d", a.made.Load(), a.ended.Load(), made, ended)
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
func (a *airport) fly(ctx context.Context) *passenger {
	p := &passenger{}
	a.group.Go(func() {
		began := time.Now()
		p.page, p.err = a.flights.join(ctx, flightKey{queryKey: queryKey{product: "globe"}}, a.read)
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
	inTheAir(t, func(a *airport) {
		for i := range 10 {
			a.group.Go(func() {
				_, _ = a.flights.join(a.Context(), flightKey{queryKey: queryKey{product: "globe", size: i % 2}}, a.read)
			})
		}
		a.group.Wait()
		a.reads(2, 0)
		a.fly(a.Context())
		a.reads(3, 0)
		a.group.Go(func() {
			_, _ = a.flights.join(a.Context(), flightKey{queryKey: queryKey{product: "globe"}, changes: 1}, a.read)
		})
		a.group.Wait()
		a.reads(4, 0)
		if len(a.flights.under) > 0 {
			a.Errorf("%d reads are kept that have ended", len(a.flights.under))
		}
	})
}

// A caller that stops waiting does not end the read for the others. If it made the first call, the
// others share a second read.
func TestFlightsOfThoseWhoLeave(t *testing.T) {
	inTheAir(t, func(a *airport) {
		first, leaveFirst := context.WithCancel(a.Context())
		second, leaveSecond := context.WithCancel(a.Context())
		leader, follower, stays := a.fly(first), a.fly(second), a.fly(a.Context())
		leaveSecond()
		synctest.Wait()
		a.reads(1, 0)
		another := a.fly(a.Context())
		leaveFirst()
		a.group.Wait()
		stays.lands(a.T, 2, time.Second)
		another.lands(a.T, 2, time.Second)
		a.reads(2, 1)
		for _, left := range []*passenger{leader, follower} {
			if !errors.Is(left.err, context.Canceled) || left.took > 0 {
				a.Errorf("a caller that left got %v after %v", left.err, left.took)
			}
		}
	})
}

// A read ends when no caller waits for it any more, and later callers do not join it.
func TestFlightsThatNobodyWaitsFor(t *testing.T) {
	inTheAir(t, func(a *airport) {
		first, leaveFirst := context.WithCancel(a.Context())
		second, leaveSecond := context.WithCancel(a.Context())
		a.fly(first)
		a.fly(second)
		leaveSecond()
		leaveFirst()
		synctest.Wait()
		later := a.fly(a.Context())
		a.reads(2, 1)
		a.group.Wait()
		later.lands(a.T, 2, time.Second)
	})
}

// The deadline of the leader does not apply to its followers: when it passes, they share a second
// read.
func TestFlightsWhoseLeaderHasNoTime(t *testing.T) {
	inTheAir(t, func(a *airport) {
		short, cancel := context.WithTimeout(a.Context(), time.Second/4)
		defer cancel()
		leader, one, two := a.fly(short), a.fly(a.Context()), a.fly(a.Context())
		a.group.Wait()
		if !errors.Is(leader.err, context.DeadlineExceeded) {
			a.Errorf("the leader without time got %v", leader.err)
		}
		one.lands(a.T, 2, time.Second*5/4)
		two.lands(a.T, 2, time.Second*5/4)
		a.reads(2, 1)
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
	inTheAir(t, func(a *airport) {
		full := comment.Errorf(comment.TooMuchText, "too much text")
		a.group.Go(func() {
			_, err := a.flights.join(a.Context(), flightKey{queryKey: queryKey{product: "globe"}}, func(context.Context) (sharedPage, error) {
				time.Sleep(time.Second)
				return sharedPage{}, full
			})
			if !errors.Is(err, full) {
				a.Errorf("the leader got %v", err)
			}
		})
		synctest.Wait()
		follower := a.fly(a.Context())
		a.group.Wait()
		follower.lands(a.T, 1, 2*time.Second)
	})
}

// A page whose count or page numbers failed since its leader was canceled, or held too much text,
// is that of the leader alone: its followers read again. If they failed for another reason, all
// share it.
func TestFlightsWhoseCountIsTheLeadersOwn(t *testing.T) {
	for _, row := range []struct {
		why    string
		cancel bool
		err    error
		reads  int32
	}{
		{"the leader is canceled", true, context.Canceled, 2},
		{"the leader holds too much", false, comment.Errorf(comment.TooMuchText, "too much text"), 2},
		{"the table is busy", false, comment.Errorf(comment.Throttled, "busy"), 1},
	} {
		for _, page := range []comment.Page{{Counted: &comment.Counted{Err: row.err}}, {Numbered: &comment.Numbered{Err: row.err}}} {
			inTheAir(t, func(a *airport) {
				ctx, cancel := context.WithCancel(a.Context())
				read := func(context.Context) (sharedPage, error) {
					number := a.made.Add(1)
					time.Sleep(time.Second)
					if number > 1 {
						return sharedPage{}, nil
					}
					if row.cancel {
						cancel()
					}
					return sharedPage{Page: page}, nil
				}
				for leads := range 3 {
					of := ctx
					if leads > 0 {
						of = a.Context()
					}
					a.group.Go(func() {
						page, err := a.flights.join(of, flightKey{}, read)
						if lacks := page.Lacks(); err != nil || (lacks != nil) != (leads == 0 || row.reads == 1) {
							a.Errorf("%s: caller %d gets %v, and a page that lacks something: %v", row.why, leads, err, lacks)
						}
					})
					synctest.Wait()
				}
				a.group.Wait()
				cancel()
				a.reads(row.reads, 0)
			})
		}
	}
}
