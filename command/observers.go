package command

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/concurrency"
	"github.com/talkback/talkback/internal/counting"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/telemetry"
)

// ofCalls measures the calls of a session, and the clock that it watches. It comes before anything is
// made of its client.
func (m *measured) ofCalls(session *Session) {
	if m != nil {
		session.Client = call.Observed(session.Client, m.Table)
		m.WatchClock(session.clock.Ahead)
	}
}

// ofBatches returns the observer of the loaders' batches, nil if nothing is measured.
func (m *measured) ofBatches() func(what string, keys int) {
	if m == nil {
		return nil
	}
	return m.Pages.Batched
}

// ofPlaces exports the places of a limiter of requests, and returns the limiter.
func (m *measured) ofPlaces(limiter *concurrency.Limiter) *concurrency.Limiter {
	if m == nil || limiter == nil {
		return limiter
	}
	m.WatchPlaces(func() telemetry.Places {
		now := limiter.State()
		return telemetry.Places{Limit: now.Limit, InFlight: now.InFlight, Queued: now.Queued}
	})
	return limiter
}

// ofClients exports the number of limited clients, and the availability of the store that servers
// share for that, if there is one.
func (m *measured) ofClients(limits *httpapi.ClientLimits) {
	if m == nil || limits == nil {
		return
	}
	var store interface{ Away() bool }
	for _, kept := range []httpapi.Quota{limits.Reads, limits.Writes} {
		if local, ok := kept.(interface{ Clients() int }); ok {
			m.WatchClients(kept.Policy().Name, local.Clients)
		}
		if shared, ok := kept.(interface{ Away() bool }); ok {
			store = shared // one for both
		}
	}
	if store != nil {
		m.WatchClientStore(store.Away)
	}
}

// ofHooks measures deliveries to hooks, and how the hooks are.
func (m *measured) ofHooks(o webhooks.Options) webhooks.Options {
	if m == nil {
		return o
	}
	var latest atomic.Pointer[[]webhooks.State]
	o.Tried = func(hook string, outcome webhooks.Outcome) { m.Hooks.Tried(hook, string(outcome)) }
	o.States = func(all []webhooks.State) {
		for _, s := range all {
			m.Hooks.Known(s.Hook.ID)
		}
		latest.Store(&all)
	}
	m.WatchHooks(func() (out []telemetry.Hook) {
		if all := latest.Load(); all != nil {
			for _, s := range *all {
				out = append(out, telemetry.Hook{ID: s.Hook.ID, Lag: s.Lag(time.Now()), Paused: s.Hook.Paused})
			}
		}
		return out
	})
	return o
}

// ofSubscriptions measures subscriptions, if there are any.
func (m *measured) ofSubscriptions(s *httpapi.Subscriptions, hub *live.Hub) {
	if m == nil || s == nil {
		return
	}
	m.WatchSubscriptions(func() telemetry.Subscriptions {
		now := s.State()
		newest := hub.Newest()
		return telemetry.Subscriptions{
			Open: now.Open, Connections: now.Connections, Sent: now.Sent, Dropped: hub.Dropped(),
			Following: !newest.IsZero(), Newest: max(0, time.Since(newest)),
		}
	})
}

// ofCounting measures how the stream is read. It comes before the runner runs.
func (m *measured) ofCounting(runner *counting.Runner) {
	if m == nil {
		return
	}
	consumer := runner.Consumer
	consumer.Observer = m.Stream
	m.WatchCounting(func() telemetry.Counting {
		upTo, known, current := consumer.ProcessedUpTo()
		return telemetry.Counting{Running: current, Complete: known, Lag: max(0, time.Since(upTo)), Shards: len(consumer.Status())}
	})
}

// lagTimeout bounds reading the lag of page numbers, so that a scrape is answered in time.
const lagTimeout = 2 * time.Second

// ofPageIndex measures how far the index of page numbers is, if there is one.
func (m *measured) ofPageIndex(p *pages) {
	index, ok := p.found.(interface {
		Lag(context.Context) (lag time.Duration, known, answers bool)
	})
	if m == nil || !ok {
		return
	}
	m.WatchPageIndex(func() telemetry.PageIndex {
		ctx, cancel := context.WithTimeout(context.Background(), lagTimeout)
		defer cancel()
		lag, known, answers := index.Lag(ctx)
		return telemetry.PageIndex{Known: known, Lag: lag, Answers: answers}
	})
}
