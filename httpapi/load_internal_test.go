package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// However a request ends, its place becomes free.
func TestPlacesComeBack(t *testing.T) {
	limiter := NewLimiter(1, 1)
	answer := func(ctx context.Context, handler http.HandlerFunc) (status int) {
		defer func() { _ = recover() }() // as net/http does
		recorder := httptest.NewRecorder()
		withPlace(limiter, time.Minute, NewConnections(0, 0))(handler).ServeHTTP(recorder, httptest.NewRequestWithContext(&request{Context: ctx}, http.MethodGet, "/graphql", nil))
		return recorder.Code
	}
	gone, cancel := context.WithCancel(t.Context())
	for name, handler := range map[string]http.HandlerFunc{
		"it panics":          func(http.ResponseWriter, *http.Request) { panic("broken") },
		"it gives up":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"its client is gone": func(http.ResponseWriter, *http.Request) { cancel() },
		"another waits and its client is gone": func(http.ResponseWriter, *http.Request) {
			ctx, hangUp := context.WithCancel(t.Context())
			go hangUp()
			if status := answer(ctx, nil); status != http.StatusServiceUnavailable {
				t.Errorf("status %d for one whose turn does not come", status)
			}
		},
		"it has read much": func(_ http.ResponseWriter, r *http.Request) { requestOf(r.Context()).units = 1000 },
	} {
		answer(gone, handler)
		if state := limiter.State(); state.InFlight != 0 || state.Queued != 0 {
			t.Errorf("%s: %+v", name, state)
		}
	}
	if status := answer(t.Context(), func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }); status != http.StatusTeapot {
		t.Errorf("afterwards: status %d", status)
	}
}

// A connection that asks again at once after a refusal waits for its next one; no other connection
// does. It waits only while something is full. Time is simulated.
func TestAskingAgainAtOnce(t *testing.T) {
	for _, row := range []struct {
		reason  string
		pause   time.Duration // between the first refusal and the next request
		other   bool          // the next request comes on another connection
		header  string
		address string
		during  func(release func(), hangUp func(), c *Connections) // called 100 ms after that request
		least   time.Duration                                       // its least duration
		most    time.Duration
		refused bool
	}{
		{"at once", 0, false, "", "192.0.2.9:1", nil, 750 * time.Millisecond, longestHold, true},
		{"a little early", 900 * time.Millisecond, false, "", "192.0.2.9:1", nil, 100 * time.Millisecond, 100 * time.Millisecond, true},
		{"as it was told", retryAfter, false, "", "192.0.2.9:1", nil, 0, 0, true},
		{"on another connection", 0, true, "", "192.0.2.9:1", nil, 0, 0, true},
		{"through a proxy, whose clients share connections", 0, false, "192.0.2.1", "192.0.2.9:1", nil, 0, 0, true},
		{"for a page of this server that all see", 0, false, "", "", nil, 0, 0, true},
		{"while places become free", 0, false, "", "192.0.2.9:1", func(release, _ func(), _ *Connections) { release() }, 750 * time.Millisecond, longestHold, false},
		{"and hangs up", 0, false, "", "192.0.2.9:1", func(_, hangUp func(), _ *Connections) { hangUp() }, 100 * time.Millisecond, 100 * time.Millisecond, true},
		{"of a server that stops", 0, false, "", "192.0.2.9:1", func(_, _ func(), c *Connections) { c.drain() }, 100 * time.Millisecond, 100 * time.Millisecond, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			limiter, release := FullLimiter(t)
			all := NewConnections(2, 0)
			check := checkLoad(limiter, all)
			ctx, hangUp := context.WithCancel(t.Context())
			first := &connection{all: all}
			ask := func(on *connection) bool {
				r := httptest.NewRequest(http.MethodPost, "/graphql", nil).WithContext(context.WithValue(ctx, connectionKey{}, on))
				r.Header.Set(forwardedFor, row.header)
				r.RemoteAddr = row.address
				return check(nil, r) != nil
			}
			ask(first)
			time.Sleep(row.pause)
			if row.during != nil {
				time.AfterFunc(100*time.Millisecond, func() { row.during(release, hangUp, all) })
			}
			on := first
			if row.other {
				on = &connection{all: all}
			}
			began := time.Now()
			refused := ask(on)
			if took := time.Since(began); refused != row.refused || took < row.least || took > row.most {
				t.Errorf("%s: refused %t after %v, want %t after %v to %v", row.reason, refused, took, row.refused, row.least, row.most)
			}
			if all.held != 0 {
				t.Errorf("%s: %d are held afterwards", row.reason, all.held)
			}
			hangUp()
		})
	}
}

// The server holds no more requests than it may have connections, however few connections they use.
func TestHeldAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter, _ := FullLimiter(t)
		all := NewConnections(2, 0)
		on, check := &connection{all: all}, checkLoad(limiter, all)
		ask := func() {
			check(nil, httptest.NewRequest(http.MethodPost, "/graphql", nil).WithContext(context.WithValue(t.Context(), connectionKey{}, on)))
		}
		ask()
		var quick atomic.Int64
		var streams sync.WaitGroup
		for range 5 {
			streams.Go(func() {
				began := time.Now()
				if ask(); time.Since(began) == 0 {
					quick.Add(1)
				}
			})
		}
		streams.Wait()
		if quick.Load() != 3 {
			t.Errorf("%d of 5 are refused at once, want 3", quick.Load())
		}
	})
}

// FullLimiter returns a limiter whose only place is taken until release is called, with one request
// waiting. It refuses all others.
func FullLimiter(tb testing.TB) (full *Limiter, release func()) {
	tb.Helper()
	full = NewLimiter(1, 1)
	turns := []*Turn{must.Get(full.Enter())(tb), must.Get(full.Enter())(tb)}
	if _, err := full.Enter(); err == nil {
		tb.Fatal("it refuses nothing")
	}
	return full, func() {
		for _, turn := range turns {
			if place, err := turn.Wait(context.Background()); err == nil {
				place.Leave(UnmeasuredLoad)
			}
		}
	}
}

// The timeout of an operation includes its time in the queue.
func TestWaitingTakesTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := NewLimiter(1, 1)
		place := must.Get(must.Get(limiter.Enter())(t).Wait(t.Context()))(t)
		time.AfterFunc(10*time.Millisecond, func() { place.Leave(UnmeasuredLoad) })
		began := time.Now()
		var waited, left time.Duration
		handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			deadline, _ := r.Context().Deadline()
			waited, left = time.Since(began), time.Until(deadline)
		})
		sent := httptest.NewRequest(http.MethodGet, "/graphql", nil)
		withPlace(limiter, time.Hour, NewConnections(0, 0))(handler).ServeHTTP(httptest.NewRecorder(), sent.WithContext(&request{Context: sent.Context()}))
		if waited != 10*time.Millisecond || left != time.Hour-waited {
			t.Errorf("its turn came after %v, and %v are left of its hour", waited, left)
		}
	})
}

// A body that does not arrive in time is refused as such, not as one that the client has cut off.
func TestBodyThatTakesTooLong(t *testing.T) {
	slow := httptest.NewRequest(http.MethodPost, "/graphql", iotest.ErrReader(fmt.Errorf("read: %w", os.ErrDeadlineExceeded)))
	if got := checkBody(100, NewConnections(0, 0))(httptest.NewRecorder(), slow); got == nil || got.status != http.StatusRequestTimeout {
		t.Errorf("got %v, want 408", got)
	}
}
