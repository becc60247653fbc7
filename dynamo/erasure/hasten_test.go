package erasure

import "time"

// Hasten removes nearly all waits of an erasure. Beside imports it must wait, as AwaitMarks does.
func Hasten(e *Eraser) *Eraser {
	e.pace = pace{heartbeat: 20 * time.Millisecond, settle: time.Millisecond, poll: 10 * time.Millisecond, lastWords: 100 * time.Millisecond}
	return e
}

// AwaitMarks makes an erasure wait for imports that run beside it. Their marks must be hastened
// too.
func AwaitMarks(e *Eraser) *Eraser {
	e.pace.settle = 500 * time.Millisecond
	return e
}

// HastenMarks makes marks age quickly, so that they are soon read again.
func HastenMarks(m *Marks) *Marks {
	m.marks.Age = 50 * time.Millisecond
	return m
}

// HastenPuts makes a put time out if an erasure has passed it.
func HastenPuts(m *Marks) *Marks {
	m.marks.Age, m.timeout = 300*time.Millisecond, 300*time.Millisecond
	return m
}

// WithoutHeartbeats sends no heartbeats, so that an erasure notices a takeover only when its own
// work fails.
func WithoutHeartbeats(e *Eraser) *Eraser {
	e.pace.heartbeat = time.Hour
	return e
}
