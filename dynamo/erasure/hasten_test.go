package erasure

import "time"

// Hasten removes most waits of an erasure. The marks of imports beside it must be hastened too.
func Hasten(e *Eraser) *Eraser {
	e.pace = pace{heartbeat: 20 * time.Millisecond, settle: 500 * time.Millisecond, poll: 10 * time.Millisecond}
	return e
}

// HastenMarks has marks read again soon.
func HastenMarks(m *Marks) *Marks {
	m.age = 50 * time.Millisecond
	return m
}
