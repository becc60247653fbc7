package stream

import (
	"cmp"
	"hash/fnv"
	"slices"
	"time"
)

// absences is how many listings in a row must lack a shard before it counts as gone.
const absences = 2

// view has the inputs of decide.
type view struct {
	me     string
	now    time.Time
	expiry time.Duration
	// engine is the run of the engine with the leases; empty where engines outlive their clients.
	engine string
	leases []Lease
	// listing is nil if the shards were not listed this time. It is always newer than the leases.
	listing *Listing
	state   State
	held    map[string]bool // shards that this process reads
	// sightings has the time since when each lease is unchanged. absent counts the listings in a
	// row that lacked its shard.
	sightings map[string]sighting
	absent    map[string]int
}

// sighting is the time since when a lease has its owner and counter. It is by the observer's own
// clock, so clocks of machines are not compared.
type sighting struct {
	owner   string
	counter int64
	since   time.Time
}

// actions has the decisions of a process, to be carried out in the order of the fields.
type actions struct {
	// leave lists the shards to stop reading.
	leave []string
	gaps  []Gap
	// create lists new leases, which have no owner yet.
	create []Lease
	// lost lists leases to end: their shards are gone. Leases of their children are in create.
	lost []Lease
	// begin is whether the stream is new, so that the state must name it: see State.begun.
	begin bool
	take  []Lease
}

// sight updates sightings after the leases were read again.
func sight(before map[string]sighting, leases []Lease, now time.Time) map[string]sighting {
	after := make(map[string]sighting, len(leases))
	for _, lease := range leases {
		seen, known := before[lease.Shard]
		if !known || seen.owner != lease.Owner || seen.counter != lease.Counter {
			seen = sighting{lease.Owner, lease.Counter, now}
		}
		after[lease.Shard] = seen
	}
	return after
}

// miss counts, for each shard with a lease, the listings in a row that lacked it.
func miss(before map[string]int, leases []Lease, listing Listing) map[string]int {
	after := map[string]int{}
	for _, lease := range leases {
		if !lease.Ended && !listing.has(lease.Shard) {
			after[lease.Shard] = before[lease.Shard] + 1
		}
	}
	return after
}

// decide returns what to do. It is a pure function of the view.
//
// It ends the leases of shards that are gone, and were not read to the end. It creates the leases
// of shards that may be read now: those whose parent was read to its end, and those without a
// parent to wait for. In a stream that was read before, the latter are gaps, because their parents
// were not read.
func decide(v view) actions {
	var a actions
	if v.listing == nil {
		v.takeUp(&a)
		return a
	}
	for _, lease := range v.leases {
		switch {
		case v.absent[lease.Shard] < absences || lease.Ended:
		case v.held[lease.Shard]:
			a.leave = append(a.leave, lease.Shard)
		case v.free(lease):
			a.lost = append(a.lost, lease)
			a.gaps = append(a.gaps, Gap{Found: v.now, Shard: lease.Shard, Reason: "the shard was dropped before it was read to its end"})
		}
	}
	for _, shard := range v.listing.Shards {
		if _, has := v.lease(shard.ID); has {
			continue
		}
		parent, read := v.lease(shard.Parent)
		switch {
		case read && parent.Ended:
			a.create = append(a.create, firstLease(shard, parent))
		case slices.Contains(a.lost, parent):
			a.create = append(a.create, firstLease(shard, Lease{}))
		case read || v.listing.has(shard.Parent):
		default:
			a.create = append(a.create, firstLease(shard, Lease{}))
			if v.state.Label == v.listing.Label {
				a.gaps = append(a.gaps, Gap{Found: v.now, Shard: shard.ID, Reason: "the shard's parent was dropped before it was read"})
			}
		}
	}
	a.begin = v.state.Label != v.listing.Label
	v.takeUp(&a)
	return a
}

// firstLease returns the lease of a shard whose parent is unknown or was read to its end.
func firstLease(shard Shard, parent Lease) Lease {
	return Lease{Shard: shard.ID, Parent: shard.Parent, Counter: 1, CaughtUp: parent.CaughtUp, Heartbeat: parent.Heartbeat}
}

// takeUp takes free leases up to a fair share. If none is free, it takes one lease of the process
// with the most, if that process keeps at least as many as this one then has.
func (v view) takeUp(a *actions) {
	have, free := map[string][]Lease{v.me: nil}, []Lease(nil)
	open := 0
	for _, lease := range v.leases {
		switch {
		case lease.Ended || v.absent[lease.Shard] > 0:
			continue
		case v.held[lease.Shard]:
			have[v.me] = append(have[v.me], lease)
		case v.free(lease):
			free = append(free, lease)
		default:
			have[lease.Owner] = append(have[lease.Owner], lease)
		}
		open++
	}
	mine, share := len(have[v.me]), (open+len(have)-1)/len(have)
	v.shuffle(free)
	if a.take = free[:max(0, min(len(free), share-mine))]; len(free) > 0 {
		return
	}
	var richest string
	for owner, leases := range have {
		if n := len(leases); n > len(have[richest]) || n == len(have[richest]) && owner < richest {
			richest = owner
		}
	}
	if theirs := have[richest]; len(theirs) >= mine+2 {
		v.shuffle(theirs)
		a.take = theirs[:1]
	}
}

// free reports whether a lease can be taken: if it has no owner, or this process owns it without
// reading the shard. It also can if its owner used an ended run of the engine, or stopped renewing.
func (v view) free(lease Lease) bool {
	orphaned := v.engine != "" && lease.Engine != "" && lease.Engine != v.engine
	if lease.Owner == "" || lease.Owner == v.me && !v.held[lease.Shard] || orphaned {
		return true
	}
	return v.now.Sub(v.sightings[lease.Shard].since) >= v.expiry
}

// expires returns the time until the first lease of another process expires unless it is renewed.
// It ignores leases that have expired already.
func (v view) expires() time.Duration {
	soonest := v.expiry
	for _, lease := range v.leases {
		if left := v.expiry - v.now.Sub(v.sightings[lease.Shard].since); !lease.Ended && !v.held[lease.Shard] && left > 0 {
			soonest = min(soonest, left)
		}
	}
	return soonest
}

// shuffle sorts leases in an order that differs between processes, so that processes that start
// together try different ones.
func (v view) shuffle(leases []Lease) {
	hashOf := func(lease Lease) uint64 {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(v.me + "/" + lease.Shard)) // never fails
		return hash.Sum64()
	}
	slices.SortFunc(leases, func(a, b Lease) int { return cmp.Compare(hashOf(a), hashOf(b)) })
}

func (v view) lease(shard string) (Lease, bool) {
	i := slices.IndexFunc(v.leases, func(lease Lease) bool { return lease.Shard == shard })
	if i < 0 {
		return Lease{}, false
	}
	return v.leases[i], true
}
