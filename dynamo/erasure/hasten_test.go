package erasure

import "time"

// Hasten removes nearly all waits of an erasure. Beside imports it must wait as AwaitMarks says.
func Hasten(e *Eraser) *Eraser {
	e.pace = pace{heartbeat: 20 * time.Millisecond, settle: time.Millisecond, poll: 10 * time.Millisecond, lastWords: 100 * time.Millisecond}
	return e
}

// AwaitMarks has an erasure wait for imports beside it, whose marks must be hastened too.
func AwaitMarks(e *Eraser) *Eraser {
	e.pace.settle = 500 * time.Millisecond
	return e
}

// HastenMarks has marks read again soon.
func HastenMarks(m *Marks) *Marks {
	m.age = 50 * time.Millisecond
	return m
}

// HastenPuts has a put take too long when an erasure has passed.
func HastenPuts(m *Marks) *Marks {
	m.age, m.timeout = 300*time.Millisecond, 300*time.Millisecond
	return m
}

// WithoutHeartbeats has an erasure notice only by what it does that another process has taken it over.
func WithoutHeartbeats(e *Eraser) *Eraser {
	e.pace.heartbeat = time.Hour
	return e
}
