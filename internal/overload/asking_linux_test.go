package overload

import (
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

func always(text string) func() string { return func() string { return text } }

// at returns the times of n requests that are due at once.
func at(due time.Duration, n int) []time.Duration { return slices.Repeat([]time.Duration{due}, n) }

// The generator reads every kind of net/http answer to its end, one after the other over few
// connections.
func TestAsking(t *testing.T) {
	var connections atomic.Int64
	server := httptest.NewUnstartedServer(answering())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	g := newGenerator(t)
	for path, status := range map[string]int{"/short": 200, "/refused": 503, "/nothing": 204, "/long": 200, "/closing": 200} {
		connections.Store(0)
		f := &flow{target: to(t, server.URL+path, always("{}")), due: at(0, 3), again: 50 * time.Millisecond}
		must.Do(t, g.run(f))
		n, opened := len(f.due), int(connections.Load())
		good, refused := 0, 0
		switch status {
		case http.StatusOK:
			good = n
		case http.StatusServiceUnavailable:
			refused = n
		}
		if len(f.good) != good || len(f.refused) != refused || f.failed != n-good-refused || len(f.late) != n {
			t.Errorf("%s: %d requests, %d written, %d good, %d refused, %d failed", path, n, len(f.late), len(f.good), len(f.refused), f.failed)
		}
		if closes := path == "/closing"; closes && opened != n || !closes && opened != 3 {
			t.Errorf("%s: %d connections for %d requests", path, opened, n)
		}
	}
}

// Requests arrive exactly as sent.
func TestAsked(t *testing.T) {
	bodies := []string{`{"query":"{ a }"}`, "", `{"query":"{ a b }"}`}
	got := make(chan string, len(bodies))
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		got <- r.Method + r.URL.Path + r.Header.Get("Content-Type") + string(body)
		if err != nil {
			t.Error(err)
		}
	}))
	defer server.Close()
	next := 0
	f := &flow{due: []time.Duration{0, time.Millisecond, 2 * time.Millisecond}, target: to(t, server.URL+"/graphql", func() string {
		next++
		return bodies[next-1]
	})}
	must.Do(t, newGenerator(t).run(f))
	for range bodies {
		if request := <-got; !slices.Contains(bodies, request[len("POST/graphqlapplication/json"):]) {
			t.Errorf("%s arrived", request)
		}
	}
}

// A cut answer is a failure, and so is a server that is gone; later requests succeed.
func TestAskingInVain(t *testing.T) {
	server := httptest.NewServer(answering())
	defer server.Close()
	gone := httptest.NewServer(answering())
	gone.Close()
	g := newGenerator(t)
	cut, whole := to(t, server.URL+"/cut", always("{}")), to(t, server.URL+"/short", always("{}"))
	must.Do(t, g.prepare(cut, 2))
	for _, target := range []*target{cut, to(t, gone.URL+"/short", always("{}"))} {
		failing, answered := &flow{target: target, due: at(0, 10)}, &flow{target: whole, due: at(time.Millisecond, 10)}
		must.Do(t, g.run(failing, answered))
		if failing.failed != 10 || len(answered.good) != 10 {
			t.Errorf("%d fail, %d are answered, want 10 of each", failing.failed, len(answered.good))
		}
	}
	server.CloseClientConnections() // unused ones are dropped
	after := &flow{target: whole, due: at(0, 5)}
	must.Do(t, g.run(after))
	if len(after.good) != 5 {
		t.Errorf("%d of 5 are answered over new connections", len(after.good))
	}
}

// Requests are sent when they are due, though the first answer comes after the last request. Their
// clients give up after a while.
func TestOpenLoop(t *testing.T) {
	const clients = 200
	var arrived atomic.Int64
	all := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if arrived.Add(1) == clients {
			close(all)
		}
		<-all
	}))
	defer server.Close()
	g := newGenerator(t)
	due := atRandom(rand.New(rand.NewPCG(1, 2)), clients/0.1, time.Second)[:clients]
	f := &flow{target: to(t, server.URL, always("{}")), due: due}
	must.Do(t, g.run(f))
	if len(f.good) != clients {
		t.Fatalf("%d of %d are answered, %d fail", len(f.good), clients, f.failed)
	}

	g.patience = 20 * time.Millisecond
	hung := make(chan struct{})
	deaf := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hung }))
	defer deaf.Close()
	defer close(hung)
	f = &flow{target: to(t, deaf.URL, always("{}")), due: due}
	must.Do(t, g.run(f))
	if f.failed != clients || len(g.open) > clients {
		t.Errorf("%d of %d give up, %d connections are open", f.failed, clients, len(g.open))
	}
}

// Clients that wait for their answers have at most one request each under way, and pause after
// refusals.
func TestClosedLoop(t *testing.T) {
	const clients = 4
	var now, most atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(time.Millisecond)
		now.Add(-1)
	}))
	defer server.Close()
	f := &flow{target: to(t, server.URL, always("{}")), due: at(0, clients), again: 100 * time.Millisecond}
	must.Do(t, newGenerator(t).run(f))
	if most.Load() > clients || len(f.good) <= clients || len(f.good) != len(f.due) {
		t.Errorf("%d requests at a time, %d answers to %d requests", most.Load(), len(f.good), len(f.due))
	}

	refusing := httptest.NewServer(http.HandlerFunc(refuse))
	defer refusing.Close()
	f = &flow{target: to(t, refusing.URL, always("{}")), due: at(0, clients), again: 10 * pause}
	must.Do(t, newGenerator(t).run(f))
	if n := len(f.refused); n <= clients || n > 10*clients || !slices.IsSorted(f.due) {
		t.Errorf("%d refusals in ten pauses of %d clients", n, clients)
	}
}
