package command_test

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Within ten seconds after an overload ends, nothing is left of it: no request is refused, and none
// waits.
func TestOverloadEnds(t *testing.T) {
	s := newOverloaded(t)
	const refused = 500
	var left atomic.Int64
	left.Store(refused)
	var crowd sync.WaitGroup
	for range 4 * maxInFlight { // twice as many as may be in progress and wait
		crowd.Go(func() {
			for left.Load() > 0 {
				if s.read(s.any()) == turnedAway {
					left.Add(-1)
				}
			}
		})
	}
	crowd.Wait()
	s.eventually("requests are answered as before", 100, func() bool { return s.read(s.any()) == served })
	if waiting := s.gate.waiting(); waiting != 0 {
		t.Errorf("%d calls are under way", waiting)
	}
}

// Clients that ask and hang up at once, over and over, leave room for others, and nothing of theirs
// stays.
func TestHangingUp(t *testing.T) {
	overProtocols(t, func(_ *testing.T, s *overloaded) {
		const attackers, each = maxInFlight / 2, 60
		var group sync.WaitGroup
		for range attackers {
			group.Go(func() {
				for range each {
					s.hangUp(time.Duration(rand.Int64N(int64(3 * time.Millisecond))))
				}
			})
		}
		s.eventually("others are answered", 40, func() bool { return s.read(s.any()) == served })
		group.Wait()
	})
}

// hangUp asks for a page and waits for the answer at most for the given time.
func (s *overloaded) hangUp(after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	// An error means that the answer came too late.
	_, _ = send(ctx, s.client, http.MethodPost, s.server.URL+"/graphql", operation(`{ product(id: "0") { comments(first: 3) { nodes { id } } } }`, nil))
}

// One client with hundreds of connections is refused by its own limit, and another is answered. The
// number of requests in progress is fixed: on a busy machine, an adaptive limit refuses both.
func TestManyConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	const connections = 300
	places := strconv.Itoa(2 * connections)
	s := startServer(t, append(onTable(t), "--trusted-proxy", "127.0.0.0/8", "--client-read-units", "20", "--client-burst", "20",
		"--min-in-flight", places, "--max-in-flight", places)...)
	many := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	t.Cleanup(many.CloseIdleConnections)
	ask := func(client http.RoundTripper, address string) int {
		got, err := send(t.Context(), client, http.MethodPost, s.address+"/graphql", operation(`{ product(id: "cup") { comments(first: 3) { nodes { id } } } }`, nil), "X-Forwarded-For: "+address)
		if err != nil {
			t.Error(err)
		}
		return got.status
	}
	var answered, limited atomic.Int64
	var crowd sync.WaitGroup
	for range connections {
		crowd.Go(func() {
			for range 2 {
				switch ask(many, "203.0.113.1") {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusTooManyRequests:
					limited.Add(1)
				}
			}
		})
	}
	for range 20 {
		if status := ask(http.DefaultTransport, "203.0.113.2"); status != http.StatusOK {
			t.Errorf("another client gets %d", status)
		}
	}
	crowd.Wait()
	if limited.Load() < connections || answered.Load() == 0 {
		t.Errorf("%d requests are answered, and %d refused by the limit of the client", answered.Load(), limited.Load())
	}
}
