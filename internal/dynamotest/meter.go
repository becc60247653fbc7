package dynamotest

import (
	"sync"
	"time"
)

// Meter adds up the capacity that an engine reports to call.Observed. Dynoxide bills a transaction
// as AWS does: the items of the table twice, and entries of indexes once.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html#transaction-capacity-handling
type Meter struct {
	mu            sync.Mutex
	reads, writes float64
}

// Take returns the read and write units of calls since it was last called.
func (m *Meter) Take() (reads, writes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reads, writes, m.reads, m.writes = m.reads, m.writes, 0, 0
	return reads, writes
}

func (m *Meter) add(reads, writes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads, m.writes = m.reads+reads, m.writes+writes
}

// Read adds read units.
func (m *Meter) Read(_, _ string, units float64) { m.add(units, 0) }

// Wrote adds write units.
func (m *Meter) Wrote(_, _ string, units float64) { m.add(0, units) }

// Tried does nothing.
func (*Meter) Tried(string, int, string, time.Duration) {}

// Throttled does nothing.
func (*Meter) Throttled(string) {}

// Hedged does nothing.
func (*Meter) Hedged(bool) {}
