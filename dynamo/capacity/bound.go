package capacity

import (
	"github.com/talkback/talkback/comment"
)

// Check returns a TooCostly error once so much was spent that no further call may begin.
func (m *Meter) Check() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spent < m.limit {
		return nil
	}
	return m.refusal()
}

// Most is what may be spent on comments of at most 1 KB, 0 for no bound.
func (m *Meter) Most() float64 {
	if m == nil {
		return 0
	}
	return BoundFactor * m.Estimate
}

func (m *Meter) refusal() error {
	return comment.Errorf(comment.TooCostly, "reading this takes more than %.0f read units, and was stopped: %s", m.limit, m.cure)
}

func (m *Meter) Add(units float64) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.spent += units
}
