package telemetry

import "time"

// Places is the state of the limit on concurrent requests to the API.
type Places struct{ Limit, InFlight, Queued int }

// WatchPlaces exports the API's limit, requests in flight and queued requests as gauges. Call it
// once.
func (m *Metrics) WatchPlaces(look func() Places) {
	m.meters.gauge("talkback.api.limit", func() (float64, bool) { return float64(look().Limit), true })
	m.meters.gauge("talkback.api.in_flight", func() (float64, bool) { return float64(look().InFlight), true })
	m.meters.gauge("talkback.api.queued", func() (float64, bool) { return float64(look().Queued), true })
}

// WatchClients exports the number of clients with an account of a policy as a gauge. Call it once
// for each policy.
func (m *Metrics) WatchClients(policy string, clients func() int) {
	m.meters.gauge("talkback.client_limits.clients", func() (float64, bool) { return float64(clients()), true }, policy)
}

// WatchClientStore exports whether the store of client limits is available as a gauge. Call it
// once.
func (m *Metrics) WatchClientStore(away func() bool) {
	m.meters.gauge("talkback.client_limits.store_available", func() (float64, bool) { return one(!away()), true })
}

// Counting is the progress of a process that counts.
type Counting struct {
	// Running says that the rest is known at all.
	Running bool
	// Complete says that every change up to Lag ago is counted; else that is not known.
	Complete bool
	Lag      time.Duration
	// Shards are those of the stream that this process reads.
	Shards int
}

// WatchCounting exports the state of counting as gauges. Call it once.
func (m *Metrics) WatchCounting(look func() Counting) {
	m.Stream.zero()
	m.meters.gauge("talkback.stream.lag", func() (float64, bool) { c := look(); return c.Lag.Seconds(), c.Running && c.Complete })
	m.meters.gauge("talkback.stream.complete", func() (float64, bool) { c := look(); return one(c.Complete), c.Running })
	m.meters.gauge("talkback.stream.shards", func() (float64, bool) { c := look(); return float64(c.Shards), true })
}

// PageIndex is how far the index of page numbers is.
type PageIndex struct {
	// Known says that Lag is known.
	Known bool
	// Lag is how far it is behind the comments.
	Lag time.Duration
	// Answers says that it is complete, and not too late to be asked.
	Answers bool
}

// WatchPageIndex exports the lag and availability of the index of page numbers as gauges. Call it
// once.
func (m *Metrics) WatchPageIndex(look func() PageIndex) {
	m.meters.gauge("talkback.page_index.lag", func() (float64, bool) { p := look(); return p.Lag.Seconds(), p.Known })
	m.meters.gauge("talkback.page_index.available", func() (float64, bool) { return one(look().Answers), true })
}

// WatchClock exports how far the clock of this machine is ahead of the table's as a gauge. Call it
// once.
func (m *Metrics) WatchClock(ahead func() time.Duration) {
	m.meters.gauge("talkback.clock.offset", func() (float64, bool) { return ahead().Seconds(), true })
}

// Hook is how a hook is.
type Hook struct {
	// ID is its id.
	ID string
	// Lag is how long ago the oldest event happened that waits for it.
	Lag time.Duration
	// Paused says that an operator paused it.
	Paused bool
}

// WatchHooks exports how hooks are as gauges. Call it once.
func (m *Metrics) WatchHooks(look func() []Hook) {
	m.meters.gauges("talkback.hook.lag", func(show func(float64, ...string)) {
		for _, h := range look() {
			show(h.Lag.Seconds(), h.ID)
		}
	})
	m.meters.gauges("talkback.hook.paused", func(show func(float64, ...string)) {
		for _, h := range look() {
			show(one(h.Paused), h.ID)
		}
	})
}

// Subscriptions are those of a server.
type Subscriptions struct {
	// Open is how many are open over each transport, Connections how many connections they have.
	Open        map[string]int
	Connections int
	// Sent counts events, Dropped subscribers that were too slow.
	Sent, Dropped int64
	// Following says that the outbox is read, and that an event was in it. The newest one happened Newest
	// ago.
	Following bool
	Newest    time.Duration
}

// WatchSubscriptions exports the state of subscriptions. Call it once.
func (m *Metrics) WatchSubscriptions(look func() Subscriptions) {
	m.meters.gauges("talkback.subscriptions.open", func(show func(float64, ...string)) {
		for transport, n := range look().Open {
			show(float64(n), transport)
		}
	})
	m.meters.gauge("talkback.subscriptions.connections", func() (float64, bool) { return float64(look().Connections), true })
	m.meters.watchedCounter("talkback.subscriptions.sent", func() int64 { return look().Sent })
	m.meters.watchedCounter("talkback.subscriptions.dropped", func() int64 { return look().Dropped })
	m.meters.gauge("talkback.outbox.age", func() (float64, bool) { s := look(); return s.Newest.Seconds(), s.Following })
}

// one is 1 for true.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
