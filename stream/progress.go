package stream

import (
	"strconv"
	"time"
)

// retention is how long AWS keeps a record at least. What was last known to be processed margin less ago is taken to be
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

// progress is how far a shard was processed, as its reader knows.
type progress struct {
	checkpoint  string
	caughtUp    time.Time
	deadLetters int
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

// resume is the progress of a process that takes up a lease. What was counted otherwise is processed, so that from then on it is
// known, too, whether records may have been dropped.
func resume(lease Lease, state State) progress {
	p := progress{checkpoint: lease.Checkpoint, caughtUp: lease.CaughtUp, deadLetters: lease.DeadLetters, proven: lease.Proven, key: lease.Heartbeat}
	if state.Complete {
		p = p.caughtUpAt(state.Since)
	}
	p.inReach = !p.caughtUp.IsZero()
	return p
}

// onto is the lease with this progress. A time out of reach is not written, since the next owner of the lease would find
// records missing a second time.
func (p progress) onto(lease Lease) Lease {
	lease.Checkpoint, lease.CaughtUp, lease.DeadLetters = p.checkpoint, p.caughtUp, p.deadLetters
	lease.Proven, lease.Heartbeat = p.proven, p.key
	if !p.inReach {
		lease.CaughtUp = time.Time{}
	}
	return lease
}

// through is the progress after a record was processed or dead-lettered. Its time is good enough to tell a long lag and what
// is in reach; heartbeats tell more.
func (p progress) through(last Record, deadLetters int) progress {
	p.checkpoint = last.Sequence
	p.deadLetters += deadLetters
	return p.caughtUpAt(last.Created.Add(-recordMargin))
}

func (p progress) caughtUpAt(t time.Time) progress {
	if t.After(p.caughtUp) {
		p.caughtUp = t
	}
	return p
}

// outOfReach tells whether records may have been dropped unread since the shard was last known to be processed. It does
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

// intoReach notes that the shard is known to be processed up to a time within reach, if that is new.
func (p progress) intoReach(now time.Time) progress {
	if next, lost := p.outOfReach(now); !lost {
		return next
	}
	return p
}

// fromHorizon is the progress of a shard that is read anew from its oldest record.
func (p progress) fromHorizon() progress {
	return progress{deadLetters: p.deadLetters, key: p.key}
}

const (
	// heartbeatKeys is how many keys there are to try, so that the items of an engine that expires none are bounded.
	heartbeatKeys = 1 << 20
	// keysAtOnce is how many keys a reader tries at first while it knows none: 4 is the number of shards of a new table on
	// AWS. With each heartbeat that was in vain it tries twice as many, up to mostKeysAtOnce: of many shards, the last to
	// find a key is alone in trying.
	keysAtOnce     = 4
	mostKeysAtOnce = 64
	// heartbeatsLost is how many heartbeats in a row have to be overdue for other keys to be tried.
	heartbeatsLost = 3
)

// nextKeys are the keys of the next heartbeat. The number drawn is below the one given.
func (p progress) nextKeys(draw func(below int64) int64) []string {
	var keys []string
	if p.key != "" {
		keys = append(keys, p.key)
	}
	missed := p.overdue
	if p.key != "" {
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

// sent is the progress after a heartbeat was sent. While older records are still to be read, none can be overdue.
func (p progress) sent() progress {
	if !p.behind {
		p.overdue++
	}
	return p
}

// heard is the progress after a heartbeat came through, behind all records before it. Any one shows a key that leads to the
// shard; what one proves is told by the clock and the lease of its own sender, so only the shard's own are believed.
func (p progress) heard(heartbeat Heartbeat, own bool) progress {
	if p.key == "" || p.overdue >= heartbeatsLost {
		p.key = heartbeat.Key
	}
	if p.key == heartbeat.Key {
		p.overdue = 0
	}
	if !own {
		return p
	}
	p.proven = max(p.proven, heartbeat.Counter)
	return p.caughtUpAt(heartbeat.Sent)
}
