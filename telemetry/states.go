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

// one is 1 for true.
func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
