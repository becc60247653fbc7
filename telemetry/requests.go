package telemetry

import (
	"cmp"
	"context"
	"strconv"
	"time"
)

// Requests measures requests. It is safe for concurrent use.
type Requests struct {
	took, operationTook          histogram
	active, operations, refusals counter
	estimatedUnits, units        sum
}

func newRequests(m meters) *Requests {
	return &Requests{
		active:         m.level("http.server.active_requests"),
		took:           m.histogram("http.server.request.duration"),
		operationTook:  m.histogram("talkback.operation.duration"),
		operations:     m.counter("talkback.operations"),
		refusals:       m.counter("talkback.refusals"),
		estimatedUnits: m.sum("talkback.operation.estimated_units"),
		units:          m.sum("talkback.operation.read_units"),
	}
}

// Began counts a request by HTTP as active. The method may be any text, since a client sent it.
func (m *Requests) Began(ctx context.Context, method, scheme string) {
	m.active.add(ctx, 1, values{method, scheme})
}

// Ended measures a request by HTTP that Began counted. Its status is 0 if it was given up.
func (m *Requests) Ended(ctx context.Context, method, scheme, route string, status int, took time.Duration) {
	m.active.add(ctx, -1, values{method, scheme})
	m.took.record(ctx, took.Seconds(), values{method, scheme, route, strconv.Itoa(status)})
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
	m.operationTook.record(ctx, o.Took.Seconds(), values{kind, o.Outcome})
	m.operations.add(ctx, 1, values{kind, o.Outcome, code})
	if o.Refused != "" {
		m.refusals.add(ctx, 1, values{o.Refused})
	}
	if o.EstimatedUnits > 0 {
		m.estimatedUnits.add(ctx, o.EstimatedUnits, values{kind})
	}
	if o.Units > 0 {
		m.units.add(ctx, o.Units, values{kind})
	}
}

// Table measures calls to the table and its stream. It implements the observer of package call.
type Table struct {
	took                       histogram
	retries, throttles, hedges counter
	readUnits, writeUnits      sum
}

func newTable(m meters) *Table {
	return &Table{
		took:       m.histogram("db.client.operation.duration"),
		retries:    m.counter("talkback.table.retries"),
		throttles:  m.counter("talkback.table.throttles"),
		hedges:     m.counter("talkback.table.hedges"),
		readUnits:  m.sum("talkback.table.read_units"),
		writeUnits: m.sum("talkback.table.write_units"),
	}
}

// background is the context of measurements without trace exemplars, all but those of requests.
var background = context.Background()

// Tried measures an attempt of a call.
func (m *Table) Tried(operation string, attempt int, failure string, took time.Duration) {
	m.took.record(background, took.Seconds(), values{system.Values[0], operation, cmp.Or(failure, "none")})
	if attempt > 1 {
		m.retries.add(background, 1, values{operation})
	}
}

// Throttled counts an attempt that DynamoDB throttled, wholly or in part.
func (m *Table) Throttled(operation string) { m.throttles.add(background, 1, values{operation}) }

// Read adds read units.
func (m *Table) Read(index, purpose string, units float64) {
	m.readUnits.add(background, units, values{index, purpose})
}

// Wrote adds write units.
func (m *Table) Wrote(index, purpose string, units float64) {
	m.writeUnits.add(background, units, values{index, purpose})
}

// Hedged counts a read that was made twice.
func (m *Table) Hedged(won bool) {
	winner := "first"
	if won {
		winner = "second"
	}
	m.hedges.add(background, 1, values{winner})
}

// Pages measures how pages are read. It implements the observer of package dynamo.
type Pages struct {
	estimated    sum
	units, waves histogram
	batches      histogram
	lookups      counter
}

func newPages(m meters) *Pages {
	return &Pages{
		estimated: m.sum("talkback.page.estimated_units"),
		units:     m.histogram("talkback.page.read_units"),
		waves:     m.histogram("talkback.page.waves"),
		batches:   m.histogram("talkback.loader.batch_size"),
		lookups:   m.counter("talkback.cache.lookups"),
	}
}

// PageRead measures a page that was read from the table.
func (m *Pages) PageRead(warm bool, estimated, consumed float64, waves int) {
	known := "cold"
	if warm {
		known = "warm"
	}
	m.waves.record(background, float64(waves), values{known})
	if estimated > 0 {
		m.estimated.add(background, estimated, values{known})
		m.units.record(background, consumed, values{known})
	}
}

// CacheLookup counts a lookup in a cache.
func (m *Pages) CacheLookup(cache string, hit bool) {
	result := "miss"
	if hit {
		result = "hit"
	}
	m.lookups.add(background, 1, values{cache, result})
}

// Batched measures how many keys were fetched together.
func (m *Pages) Batched(what string, keys int) {
	m.batches.record(background, float64(keys), values{what})
}

// Stream measures how the table's stream is read. It implements the observer of package stream.
type Stream struct {
	heartbeats                 counter
	records, deadLetters, gaps counter
}

func newStream(m meters) *Stream {
	return &Stream{
		heartbeats:  m.counter("talkback.stream.heartbeats"),
		records:     m.counter("talkback.stream.records"),
		deadLetters: m.counter("talkback.stream.dead_letters"),
		gaps:        m.counter("talkback.stream.gaps"),
	}
}

// HeartbeatSent counts a heartbeat that was written.
func (m *Stream) HeartbeatSent() { m.heartbeats.add(background, 1, values{"sent"}) }

// HeartbeatReceived counts a heartbeat that came through the stream.
func (m *Stream) HeartbeatReceived() { m.heartbeats.add(background, 1, values{"received"}) }

// Processed counts records that were processed.
func (m *Stream) Processed(records int) { m.records.add(background, int64(records), values{}) }

// DeadLettered counts a record that was dead-lettered.
func (m *Stream) DeadLettered() { m.deadLetters.add(background, 1, values{}) }

// GapFound counts a gap.
func (m *Stream) GapFound() { m.gaps.add(background, 1, values{}) }

// Zero exports the counters as 0, so that the first event shows as a rise.
func (m *Stream) Zero() {
	for _, c := range []counter{m.records, m.deadLetters, m.gaps} {
		c.add(background, 0, values{})
	}
	for _, direction := range []string{"sent", "received"} {
		m.heartbeats.add(background, 0, values{direction})
	}
}

// Hooks measures deliveries to hooks.
type Hooks struct{ deliveries counter }

// Tried counts an attempt to deliver an event to a hook.
func (m *Hooks) Tried(hook, outcome string) { m.deliveries.add(background, 1, values{hook, outcome}) }

// Known exports the counters of a hook as 0, so that the first event shows as a rise.
func (m *Hooks) Known(hook string) {
	for _, outcome := range deliveryOutcomes {
		m.deliveries.add(background, 0, values{hook, outcome})
	}
}
