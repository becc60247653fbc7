package httpapi

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/talkback/talkback/httpapi/streams"
	"github.com/talkback/talkback/quota"
)

// Subscriptions bounds subscriptions, and says what becomes of them.
type Subscriptions struct {
	// Max bounds the subscriptions that are open at once, and the sockets. PerClient does so for each
	// client that Client returns. Required.
	Max, PerClient int
	// Client returns which client sent a request, and whether it is bounded. Required.
	Client func(*http.Request) (c quota.Client, bounded bool)
	// TokenRefused reports whether a request has a token that is not valid, or not any more. It comes after
	// Authenticate. Required.
	TokenRefused func(context.Context) bool
	// Timing is how long things take.
	Timing streams.Timing

	sockets, subscriptions *places
	sent                   atomic.Int64
}

// open returns the bounds as New uses them, nil for none.
func (s *Subscriptions) open() *Subscriptions {
	if s != nil {
		s.Timing = s.Timing.WithDefaults()
		s.sockets, s.subscriptions = newPlaces(s.Max, s.PerClient), newPlaces(s.Max, s.PerClient)
	}
	return s
}

// State returns how many sockets and subscriptions are open, and how many events were sent.
func (s *Subscriptions) State() (sockets, subscriptions int, sent int64) {
	return s.sockets.count(), s.subscriptions.count(), s.sent.Load()
}

// places bounds how many of something there are at once, for all clients together and for each.
type places struct {
	most, perClient int

	mu    sync.Mutex
	taken int
	by    map[quota.Client]int
}

func newPlaces(most, perClient int) *places {
	return &places{most: most, perClient: perClient, by: map[quota.Client]int{}}
}

// take takes a place for the client of a request. The caller frees it once.
func (p *places) take(of func(*http.Request) (quota.Client, bool), r *http.Request) (free func(), refused *refusal) {
	client, limited := of(r)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.taken >= p.most:
		return nil, manySubscriptions.with(p.most)
	case limited && p.by[client] >= p.perClient:
		return nil, clientFollows.with(p.perClient)
	}
	p.taken++
	if limited {
		p.by[client]++
	}
	return func() { p.leave(client, limited) }, nil
}

func (p *places) leave(client quota.Client, limited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if !limited {
		return
	}
	if p.by[client]--; p.by[client] == 0 {
		delete(p.by, client)
	}
}

// count returns how many places are taken.
func (p *places) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
