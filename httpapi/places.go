package httpapi

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/talkback/talkback/quota"
)

// Subscriptions bounds subscriptions, and counts them.
type Subscriptions struct {
	// Max bounds the subscriptions that are open at once, and likewise the sockets and streams over
	// HTTP. PerClient does so for each client that Client returns. Required.
	Max, PerClient int
	// Client returns which client sent a request, and whether it is bounded. Required.
	Client func(*http.Request) (c quota.Client, bounded bool)
	// TokenRefused reports whether a request has a token that is not valid, or not any more. It comes
	// after Authenticate. Required.
	TokenRefused func(context.Context) bool
	// Timing has the timeouts and intervals of streams.
	Timing StreamTiming

	connections, subscriptions *places
	open                       [3]atomic.Int64 // by transport
	sent                       atomic.Int64
}

// The transports of subscriptions.
const (
	bySocket = iota
	byEvents
	byMultipart
)

var transportNames = [...]string{"websocket", "sse", "multipart"}

// enter takes a place for a subscription, and one for its connection. The form is nil for a socket,
// whose connection has its place already. The caller calls leave once.
func (s *Subscriptions) enter(r *http.Request, form *streamForm) (leave func(), refused *refusal) {
	free, refused := s.subscriptions.take(s.Client, r)
	if refused != nil {
		return nil, refused
	}
	transport, disconnect := bySocket, func() {}
	if form != nil {
		transport = byMultipart
		if form == &eventStream {
			transport = byEvents
		}
		if disconnect, refused = s.connections.take(s.Client, r); refused != nil {
			free()
			return nil, refused
		}
	}
	s.open[transport].Add(1)
	return func() { s.open[transport].Add(-1); disconnect(); free() }, nil
}

// SubscriptionState is what a server's subscriptions are doing.
type SubscriptionState struct {
	// Open counts the open subscriptions over websocket, sse and multipart. Connections counts their
	// connections, including sockets without subscriptions.
	Open        map[string]int
	Connections int
	// Sent counts the events that were sent.
	Sent int64
}

// State returns the state of the subscriptions. Call it after New.
func (s *Subscriptions) State() SubscriptionState {
	s.connections.mu.Lock()
	defer s.connections.mu.Unlock()
	now := SubscriptionState{Open: map[string]int{}, Connections: s.connections.taken, Sent: s.sent.Load()}
	for i, name := range transportNames {
		now.Open[name] = int(s.open[i].Load())
	}
	return now
}

// places bounds how many subscriptions or connections are open at once, for all clients together
// and for each.
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
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.taken--
		if !limited {
			return
		}
		if p.by[client]--; p.by[client] == 0 {
			delete(p.by, client)
		}
	}, nil
}
