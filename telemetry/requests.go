package telemetry

import (
	"context"
	"strconv"
	"time"
)

// Requests measures requests. It is safe for concurrent use.
type Requests struct {
	active                level
	took, operationTook   histogram
	operations, refusals  counter
	estimatedUnits, units sum
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

// Began counts a request by HTTP as active. What a client sent as its method may be any text.
func (m *Requests) Began(ctx context.Context, method, scheme string) {
	m.active.add(ctx, 1, values{method, scheme})
}

// Ended measures a request by HTTP that Began counted. The status is 0 if the connection was given
// up.
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
	// Code is that of the first error, empty without errors.
	Code string
	// Refused says which limit of the server refused the request, empty if none did.
	Refused string
	// EstimatedUnits are what it was charged beforehand, Units what its reads consumed.
	EstimatedUnits, Units float64
	// Took is how long it took until the answer was sent.
	Took time.Duration
}

// Answered measures a request to the API.
func (m *Requests) Answered(ctx context.Context, o Operation) {
	kind, code := orNone(o.Type), orNone(o.Code)
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

func orNone(word string) string {
	if word == "" {
		return "none"
	}
	return word
}
