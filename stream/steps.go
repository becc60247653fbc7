package stream

import "time"

// leastStep is by how much the clock of a machine must be set back to be noticed at once: well
// within clockMargin.
const leastStep = 500 * time.Millisecond

// steps notices when the clock of this machine is set back. A clock that goes forward may be that of
// a machine that slept, which did not process anything meanwhile: the watermark is right as it is.
type steps struct {
	wall    time.Time     // without a monotonic reading
	elapsed time.Duration // by the monotonic clock
}

// back returns by how much the clock was set back since the last call, given what both clocks say.
func (s *steps) back(wall time.Time, elapsed time.Duration) time.Duration {
	step := wall.Sub(s.wall) - (elapsed - s.elapsed)
	switch {
	case s.wall.IsZero(), step >= leastStep:
		*s = steps{wall, elapsed}
		return 0
	case step > -leastStep:
		return 0 // it may add up
	}
	*s = steps{wall, elapsed}
	return -step
}

// setBack returns the progress after the clock was set back: the watermark is the same moment by the
// new clock. Heartbeats that are under way, sent with a lease of this counter at most, tell times of
// the old clock. They prove what they prove, and are no watermark.
func (p progress) setBack(by time.Duration, counter int64) progress {
	if by == 0 {
		return p
	}
	if !p.caughtUp.IsZero() {
		p.caughtUp = p.caughtUp.Add(-by)
	}
	p.timely = counter + 1
	return p
}
