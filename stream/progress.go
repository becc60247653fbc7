package stream

import "time"

// retention is how long AWS keeps a record at least. What was last known to be worked off margin less ago is taken to be
// incomplete, for engines that drop records silently.
const (
	retention       = 24 * time.Hour
	retentionMargin = time.Hour
)

// progress is how far a shard was worked off, as its reader knows.
type progress struct {
	checkpoint string
	caughtUp   time.Time
	aside      int
	// quietSince is when the latest of the unbroken row of empty answers was asked for, zero without one.
	quietSince time.Time
	// inReach says that caughtUp was within the retention when it was last looked at, so that falling out of it is news.
	inReach bool
}

// resume is the progress of whoever takes up a lease. What was counted otherwise is worked off, so that from then on it is
// known, too, whether records may have been dropped.
func resume(lease Lease, state State) progress {
	p := progress{checkpoint: lease.Checkpoint, caughtUp: lease.CaughtUp, aside: lease.Aside}
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
	if !p.inReach {
		lease.CaughtUp = time.Time{}
	}
	return lease
}

// through is the progress after a record was worked off or set aside. Changes of its very second may follow.
func (p progress) through(last Record, aside int) progress {
	p.checkpoint, p.quietSince = last.Sequence, time.Time{}
	p.aside += aside
	return p.caughtUpAt(last.Created.Add(-time.Second))
}

// quiet is the progress after an empty answer, and when it was asked for. A single one proves nothing: DynamoDB documents
// that records may follow an empty answer. The second in a row proves that there were none when the first was asked for.
func (p progress) quiet(asked time.Time) progress {
	before := p.quietSince
	p.quietSince = asked
	if before.IsZero() {
		return p
	}
	return p.caughtUpAt(before)
}

func (p progress) caughtUpAt(t time.Time) progress {
	if t.After(p.caughtUp) {
		p.caughtUp = t
	}
	return p
}

// outOfReach tells whether records may have been dropped unread since the shard was last known to be worked off. It does
// so once until that is within reach again.
func (p progress) outOfReach(now time.Time) (progress, bool) {
	within := !p.caughtUp.IsZero() && now.Sub(p.caughtUp) < retention-retentionMargin
	lost := p.inReach && !within
	p.inReach = within
	return p, lost
}

// fromHorizon is the progress of a shard that is read anew from its oldest record.
func (p progress) fromHorizon() progress {
	return progress{aside: p.aside}
}
