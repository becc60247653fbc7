package telemetry

import (
	"context"
	"time"
)

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

// background is the context of what is measured outside of a request's own: exemplars of traces are
// for requests.
var background = context.Background()

// Tried measures an attempt of a call.
func (m *Table) Tried(operation string, attempt int, failure string, took time.Duration) {
	m.took.record(background, took.Seconds(), values{system.Values[0], operation, orNone(failure)})
	if attempt > 1 {
		m.retries.add(background, 1, values{operation})
	}
}

// Throttled counts an attempt that DynamoDB refused, wholly or in part, since too much is asked of
// it.
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
