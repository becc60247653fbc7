package stream

import (
	"strconv"
	"time"
)

// retention is how long AWS keeps a record at least. A watermark older than retention minus
// retentionMargin counts as a gap, since some engines drop records silently.
const (
	retention       = 24 * time.Hour
	retentionMargin = time.Hour
)

const (
	recordMargin = time.Minute     // how far the time of a record may be off: AWS calls it approximate, and clocks differ
	behindAfter  = 5 * time.Second // age from which a record counts as old
	clockMargin  = 2 * time.Second // how much the clocks of processes may differ
)

// progress is the progress of a shard, as known to its reader.
type progress struct {
	// Lease has the owner and the counter as last written, and the progress since.
	Lease
	// overdue is how many heartbeats of the lease's key were sent since one came through.
	overdue int
	// awaited is whether a heartbeat was sent since then, also one that is not overdue.
	awaited bool
	// behind is whether the records read last are old, so that a heartbeat may still be unread.
	behind bool
	// timely is the counter of the first heartbeat since the clock was last set: earlier ones have
	// times of the clock as it was.
	timely int64
	// inReach is whether CaughtUp was within the retention last time: leaving it is reported once.
	inReach bool
}

// resume returns the progress with which a reader takes up a lease. Changes that a rebuild counted
// are processed. From its time on, the reader can notice whether records may have been dropped. A
// watermark by a clock that was ahead is unknown.
func resume(lease Lease, state State, now time.Time) progress {
	p := progress{Lease: lease}
	if state.Complete {
		p = p.caughtUpAt(state.Since)
	}
	if p.CaughtUp.Sub(now) > clockMargin {
		p.CaughtUp = time.Time{}
	}
	p.inReach = !p.CaughtUp.IsZero()
	return p
}

// shown returns the lease for others to see. It leaves out a watermark that is out of reach, or the
// next owner would report missing records a second time.
func (p progress) shown() Lease {
	if !p.inReach {
		p.CaughtUp = time.Time{}
	}
	return p.Lease
}

// through returns the progress after a record was processed or dead-lettered. The record's time is
// a rough watermark, good enough for long lags and for the retention; heartbeats are exact. A time
// in the future, by the table's clock, counts as now.
func (p progress) through(last Record, deadLetters int, now time.Time) progress {
	p.Checkpoint = last.Sequence
	p.DeadLetters += deadLetters
	at := last.Created
	if at.After(now) {
		at = now
	}
	return p.caughtUpAt(at.Add(-recordMargin))
}

func (p progress) caughtUpAt(t time.Time) progress {
	if t.After(p.CaughtUp) {
		p.CaughtUp = t
	}
	return p
}

// ProcessedUpTo returns the watermark of the leases, which are all leases of the stream; false if
// unknown. It is unknown if a function of AWS Lambda has come further than the readers of the
// stream: these have ended, as that of an import does, and their leases stay as they were.
func (s State) ProcessedUpTo(leases []Lease) (time.Time, bool) {
	upTo, known := ProcessedUpTo(leases)
	if s.Scheduled.Sub(upTo) > recordMargin {
		return time.Time{}, false
	}
	return upTo, known
}

// outOfReach reports whether records may have been dropped unread since the watermark. It reports
// that once, until the watermark is within reach again. A watermark in the future, from a clock
// that was ahead, becomes now; otherwise it would look current while nothing is processed.
func (p progress) outOfReach(now time.Time) (progress, bool) {
	if p.CaughtUp.After(now) {
		p.CaughtUp = now
	}
	within := !p.CaughtUp.IsZero() && now.Sub(p.CaughtUp) < retention-retentionMargin
	lost := p.inReach && !within
	p.inReach = within
	return p, lost
}

// intoReach notes that the watermark is within reach again.
func (p progress) intoReach(now time.Time) progress {
	if next, lost := p.outOfReach(now); !lost {
		return next
	}
	return p
}

// fromHorizon returns the progress of a shard that is read again from its oldest record.
func (p progress) fromHorizon() progress {
	p.Checkpoint, p.CaughtUp, p.Proven = "", time.Time{}, 0
	return progress{Lease: p.Lease}
}

const (
	// heartbeatKeys is the number of possible keys. It bounds the items where none expire.
	heartbeatKeys = 1 << 20
	// keysAtOnce is how many keys a reader without a key tries first: 4 is the number of shards of
	// a new table on AWS. After each heartbeat that did not come through, it tries twice as many,
	// up to mostKeysAtOnce. That helps the last of many shards to find a key.
	keysAtOnce     = 4
	mostKeysAtOnce = 64
	// heartbeatsLost is how many heartbeats in a row must be overdue before other keys are tried.
	heartbeatsLost = 3
)

// nextKeys returns the keys for the next heartbeats. draw draws a number below its argument.
func (p progress) nextKeys(draw func(below int64) int64) []string {
	var keys []string
	if p.Heartbeat != "" {
		keys = append(keys, p.Heartbeat)
	}
	missed := p.overdue
	if p.Heartbeat != "" {
		missed -= heartbeatsLost
	}
	if missed < 0 {
		return keys
	}
	for range min(keysAtOnce<<min(missed, 10), mostKeysAtOnce) {
		keys = append(keys, strconv.FormatInt(draw(heartbeatKeys), 10))
	}
	return keys
}

// sent returns the progress after a heartbeat was sent. While older records are still to be read,
// no heartbeat is overdue.
func (p progress) sent() progress {
	p.awaited = true
	if !p.behind {
		p.overdue++
	}
	return p
}

// unsent returns the progress after sending failed: the key still leads to the shard. If the
// heartbeat was written nevertheless, heard counts it like any other.
func (p progress) unsent() progress {
	p.overdue = max(0, p.overdue-1)
	p.awaited = p.overdue > 0
	return p
}

// heard returns the progress after a heartbeat came through, once all records before it are
// processed. Any heartbeat shows a key of the shard. Only the shard's own heartbeats move the
// watermark, since others have the clock and the lease of another sender.
func (p progress) heard(heartbeat Heartbeat, own bool) progress {
	if p.Heartbeat == "" || p.overdue >= heartbeatsLost {
		p.Heartbeat = heartbeat.Key
	}
	if p.Heartbeat == heartbeat.Key {
		p.overdue, p.awaited = 0, false
	}
	if !own {
		return p
	}
	p.Proven = max(p.Proven, heartbeat.Counter)
	if heartbeat.Counter < p.timely {
		return p
	}
	return p.caughtUpAt(heartbeat.Sent)
}

// leastStep is the smallest step back of a clock that is noticed at once: well within clockMargin.
const leastStep = 500 * time.Millisecond

// steps notices when the clock of this machine is set back. A step forward may mean that the
// machine slept and processed nothing: then the watermark stays correct.
type steps struct {
	wall    time.Time     // without a monotonic reading
	elapsed time.Duration // by the monotonic clock
}

// back returns by how much the clock was set back since the last call, given both clocks' times.
func (s *steps) back(wall time.Time, elapsed time.Duration) time.Duration {
	step := wall.Sub(s.wall) - (elapsed - s.elapsed)
	switch {
	case s.wall.IsZero(), step >= leastStep:
		*s = steps{wall, elapsed}
		return 0
	case step > -leastStep:
		return 0 // small steps may add up
	}
	*s = steps{wall, elapsed}
	return -step
}

// setBack returns the progress after the clock was set back: the watermark is shifted to the new
// clock. Heartbeats under way, sent with a lease of this counter at most, have times of the old
// clock. They still count for Proven, but not for the watermark.
func (p progress) setBack(by time.Duration) progress {
	if by == 0 {
		return p
	}
	if !p.CaughtUp.IsZero() {
		p.CaughtUp = p.CaughtUp.Add(-by)
	}
	p.timely = p.Counter + 1
	return p
}
