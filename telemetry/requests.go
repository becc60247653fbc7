package telemetry

import (
	"cmp"
	"context"
	"strconv"
	"time"
)

// Requests measures requests. It is safe for concurrent use.
type Requests struct{ to meters }

// Began counts a request by HTTP as active. The method may be any text, since a client sent it.
func (m *Requests) Began(ctx context.Context, method, scheme string) {
	m.to.note(ctx, "http.server.active_requests", 1, method, scheme)
}

// Ended measures a request by HTTP that Began counted. Its status is 0 if it was given up.
func (m *Requests) Ended(ctx context.Context, method, scheme, route string, status int, took time.Duration) {
	m.to.note(ctx, "http.server.active_requests", -1, method, scheme)
	m.to.note(ctx, "http.server.request.duration", took.Seconds(), method, scheme, route, strconv.Itoa(status))
}

// Operation is a request to the API that has been answered.
type Operation struct {
	// Type is query or mutation, empty if the request had none that could be recognized.
	Type string
	// Outcome is ok, partial, failed or refused.
	Outcome string
	// Code is the code of the first error, empty without errors.
	Code string
	// Refused says which limit of the server refused the request, empty if none did.
	Refused string
	// EstimatedUnits is the charge beforehand, Units what its reads consumed.
	EstimatedUnits, Units float64
	// Took is how long it took until the answer was sent.
	Took time.Duration
}

// Answered measures a request to the API.
func (m *Requests) Answered(ctx context.Context, o Operation) {
	kind, code := cmp.Or(o.Type, "none"), cmp.Or(o.Code, "none")
	m.to.note(ctx, "talkback.operation.duration", o.Took.Seconds(), kind, o.Outcome)
	m.to.note(ctx, "talkback.operations", 1, kind, o.Outcome, code)
	if o.Refused != "" {
		m.to.note(ctx, "talkback.refusals", 1, o.Refused)
	}
	if o.EstimatedUnits > 0 {
		m.to.note(ctx, "talkback.operation.estimated_units", o.EstimatedUnits, kind)
	}
	if o.Units > 0 {
		m.to.note(ctx, "talkback.operation.read_units", o.Units, kind)
	}
}

// Table measures calls to the table and its stream. It implements the observer of package call.
type Table struct{ to meters }

// background is the context of measurements without trace exemplars, all but those of requests.
var background = context.Background()

// Tried measures an attempt of a call.
func (m *Table) Tried(operation string, attempt int, failure string, took time.Duration) {
	m.to.note(background, "db.client.operation.duration", took.Seconds(), system.Values[0], operation, cmp.Or(failure, "none"))
	if attempt > 1 {
		m.to.note(background, "talkback.table.retries", 1, operation)
	}
}

// Throttled counts an attempt that DynamoDB throttled, wholly or in part.
func (m *Table) Throttled(operation string) {
	m.to.note(background, "talkback.table.throttles", 1, operation)
}

// Read adds read units.
func (m *Table) Read(index, purpose string, units float64) {
	m.to.note(background, "talkback.table.read_units", units, index, purpose)
}

// Wrote adds write units.
func (m *Table) Wrote(index, purpose string, units float64) {
	m.to.note(background, "talkback.table.write_units", units, index, purpose)
}

// Hedged counts a read that was made twice.
func (m *Table) Hedged(won bool) {
	winner := "first"
	if won {
		winner = "second"
	}
	m.to.note(background, "talkback.table.hedges", 1, winner)
}

// Pages measures how pages are read. It implements the observer of package dynamo.
type Pages struct{ to meters }

// PageRead measures a page that was read from the table.
func (m *Pages) PageRead(warm bool, estimated, consumed float64, waves int) {
	known := "cold"
	if warm {
		known = "warm"
	}
	m.to.note(background, "talkback.page.waves", float64(waves), known)
	if estimated > 0 {
		m.to.note(background, "talkback.page.estimated_units", estimated, known)
		m.to.note(background, "talkback.page.read_units", consumed, known)
	}
}

// CacheLookup counts a lookup in a cache.
func (m *Pages) CacheLookup(cache string, hit bool) {
	result := "miss"
	if hit {
		result = "hit"
	}
	m.to.note(background, "talkback.cache.lookups", 1, cache, result)
}

// Batched measures how many keys were fetched together.
func (m *Pages) Batched(what string, keys int) {
	m.to.note(background, "talkback.loader.batch_size", float64(keys), what)
}

// Stream measures how the table's stream is read. It implements the observer of package stream.
type Stream struct{ to meters }

// HeartbeatSent counts a heartbeat that was written.
func (m *Stream) HeartbeatSent() { m.to.note(background, "talkback.stream.heartbeats", 1, "sent") }

// HeartbeatReceived counts a heartbeat that came through the stream.
func (m *Stream) HeartbeatReceived() {
	m.to.note(background, "talkback.stream.heartbeats", 1, "received")
}

// Processed counts records that were processed.
func (m *Stream) Processed(records int) {
	m.to.note(background, "talkback.stream.records", float64(records))
}

// DeadLettered counts a record that was dead-lettered.
func (m *Stream) DeadLettered() { m.to.note(background, "talkback.stream.dead_letters", 1) }

// GapFound counts a gap.
func (m *Stream) GapFound() { m.to.note(background, "talkback.stream.gaps", 1) }

// Zero exports the counters as 0, so that the first event shows as a rise.
func (m *Stream) Zero() {
	for _, name := range []string{"talkback.stream.records", "talkback.stream.dead_letters", "talkback.stream.gaps"} {
		m.to.note(background, name, 0)
	}
	for _, direction := range []string{"sent", "received"} {
		m.to.note(background, "talkback.stream.heartbeats", 0, direction)
	}
}

// Hooks measures deliveries to hooks.
type Hooks struct{ to meters }

// Tried counts an attempt to deliver an event to a hook.
func (m *Hooks) Tried(hook, outcome string) {
	m.to.note(background, "talkback.hook.deliveries", 1, hook, outcome)
}

// Known exports the counters of a hook as 0, so that the first event shows as a rise.
func (m *Hooks) Known(hook string) {
	for _, outcome := range deliveryOutcomes {
		m.to.note(background, "talkback.hook.deliveries", 0, hook, outcome)
	}
}
