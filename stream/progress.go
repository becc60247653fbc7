package stream

import "time"

// retention is how long AWS keeps a record at least. What was last known to be worked off margin less ago is taken to be
// incomplete, for engines that drop records silently.
const (
	retention       = 24 * time.Hour
	retentionMargin = time.Hour
)

// recordMargin is by how much the time of a record may be off, which AWS gives as approximate, and by how much its clock
// may differ from ours.
const recordMargin = time.Minute

// behindAfter is the age from which on a record is old.
const behindAfter = 5 * time.Second

// clockMargin is by how much the clocks of processes may differ.
const clockMargin = 2 * time.Second

// progress is how far a shard was worked off, as its reader knows.
type progress struct {
	checkpoint string
	caughtUp   time.Time
	aside      int
	// proven is the counter of the lease when the last heartbeat that came through was sent.
	proven int64
	// key carries heartbeats to the shard, or did to its parent; empty when none is known.
	key string
	// overdue is how many heartbeats were sent since one of that key came through.
	overdue int
	// behind says that the records read last are old, so that a heartbeat may be among those still to be read.
	behind bool
	// inReach says that caughtUp was within the retention when it was last looked at, so that falling out of it is news.
	inReach bool
}

// resume is the progress of whoever takes up a lease. What was counted otherwise is worked off, so that from then on it is
// known, too, whether records may have been dropped.
func resume(lease Lease, state State) progress {
	p := progress{checkpoint: lease.Checkpoint, caughtUp: lease.CaughtUp, aside: lease.Aside, proven: lease.Proven, key: lease.Heartbeat}
	if state.Complete {
		p = p.caughtUpAt(state.Since)
	}
	p.inReach = !p.caughtUp.IsZero()
	return p
}

// onto is the lease with this progress. A time out of reach is not written, since whoever takes up the lease would find
// records missing a second time.
func (p progress) onto(lease Lease) Lease {
	lease.Checkpoint, lease.CaughtUp, lease.Aside = p.checkpoint, p.caughtUp, p.aside
	lease.Proven, lease.Heartbeat = p.proven, p.key
	if !p.inReach {
		lease.CaughtUp = time.Time{}
	}
	return lease
}

// through is the progress after a record was worked off or set aside. Its time is good enough to tell a long lag and what
// is in reach; heartbeats tell more.
func (p progress) through(last Record, aside int) progress {
	p.checkpoint = last.Sequence
	p.aside += aside
	return p.caughtUpAt(last.Created.Add(-recordMargin))
}

func (p progress) caughtUpAt(t time.Time) progress {
	if t.After(p.caughtUp) {
		p.caughtUp = t
	}
	return p
}

// outOfReach tells whether records may have been dropped unread since the shard was last known to be worked off. It does
// so once until that is within reach again. A time by a clock that is ahead of ours becomes now: else it would be said of
// minutes to come, even while nothing is processed.
func (p progress) outOfReach(now time.Time) (progress, bool) {
	if p.caughtUp.After(now) {
		p.caughtUp = now
	}
	within := !p.caughtUp.IsZero() && now.Sub(p.caughtUp) < retention-retentionMargin
	lost := p.inReach && !within
	p.inReach = within
	return p, lost
}

// intoReach notes that the shard is known to be worked off up to a time within reach, if that is new.
func (p progress) intoReach(now time.Time) progress {
	if next, lost := p.outOfReach(now); !lost {
		return next
	}
	return p
}

// fromHorizon is the progress of a shard that is read anew from its oldest record.
func (p progress) fromHorizon() progress {
	return progress{aside: p.aside, key: p.key}
}
