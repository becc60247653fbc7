package httpapi

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/httpapi/concurrency"
)

// However a request ends, its place is free again.
func TestPlacesComeBack(t *testing.T) {
	limiter := concurrency.New(1, 1)
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

// The time of an operation runs while it waits for its turn.
func TestWaitingTakesTime(t *testing.T) {
	limiter := concurrency.New(1, 1)
	turn, err := limiter.Enter()
	if err != nil {
		t.Fatal(err)
	}
	place, err := turn.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var came, deadline time.Time
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		came = time.Now()
		deadline, _ = r.Context().Deadline()
	})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		recorder, sent := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/graphql", nil)
		withPlace(limiter, time.Hour, NewConnections(0, 0))(handler).ServeHTTP(recorder, sent.WithContext(&request{Context: sent.Context()}))
	})
	for limiter.State().Queued == 0 {
		time.Sleep(time.Millisecond)
	}
	queued := time.Now()
	place.Leave(concurrency.Unmeasured)
	waiting.Wait()
	if came.Before(queued) || deadline.Before(began.Add(time.Hour)) || deadline.After(queued.Add(time.Hour)) {
		t.Errorf("its turn came at %v, its time ends at %v: it began between %v and %v", came, deadline, began, queued)
	}
}
