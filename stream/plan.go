package stream

import (
	"hash/fnv"
	"slices"
	"time"
)

// absences is how many listings in a row have to be without a shard for it to be gone.
const absences = 2

// view is all that a process knows when it decides what to do.
type view struct {
	me     string
	now    time.Time
	expiry time.Duration
	// engine is the run of the engine that the leases are kept in, empty if that tells nothing.
	engine string
	leases []Lease
	// listing is nil when it was not looked at this time. It was, if at all, after the leases.
	listing *Listing
	state   State
	// held are the shards that this process reads.
	held map[string]bool
	// sightings are what was seen of the leases up to now, and absent how often in a row their shards were not listed.
	sightings map[string]sighting
	absent    map[string]int
}

// sighting is since when a lease has had a counter, by the observer's own clock: clocks of machines are not compared.
type sighting struct {
	owner   string
	counter int64
	since   time.Time
}

// actions are what a process does, in the order of the fields.
type actions struct {
	// leave are shards to stop reading.
	leave []string
	// gaps are to be recorded.
	gaps []Gap
	// create are new leases, of nobody.
	create []Lease
	// lost are leases of shards that are gone, which have to be ended; their children are among those created.
	lost []Lease
	// begin says that all shards of a new stream have leases then, which is to be entered into the state.
	begin bool
	// take are leases to take.
	take []Lease
}

// sight is what is known of leases after they were read again.
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

// miss counts the listings without a shard that has a lease.
func miss(before map[string]int, leases []Lease, listing Listing) map[string]int {
	after := map[string]int{}
	for _, lease := range leases {
		if !lease.Ended && !listing.has(lease.Shard) {
			after[lease.Shard] = before[lease.Shard] + 1
		}
	}
	return after
}

// decide says what to do. It depends on nothing but the view.
func decide(v view) actions {
	var a actions
	if v.listing != nil {
		v.retire(&a)
		v.introduce(&a)
		v.begin(&a)
	}
	v.takeUp(&a)
	return a
}

// retire ends the leases of shards that are gone: unread, for otherwise they would have ended.
func (v view) retire(a *actions) {
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
}

// introduce makes leases of shards whose turn it is: those whose parent was read to its end, and those without a parent
// to wait for. Where all shards had leases before, nobody knows what came before the latter.
func (v view) introduce(a *actions) {
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
}

// firstLease is the lease of a shard whose parent, if it has one that is known, was read to its end.
func firstLease(shard Shard, parent Lease) Lease {
	return Lease{Shard: shard.ID, Parent: shard.Parent, Counter: 1, CaughtUp: parent.CaughtUp, Heartbeat: parent.Heartbeat}
}

// begin notices a stream that was not read before. What was counted by another one is complete no more.
func (v view) begin(a *actions) {
	a.begin = v.state.Label != v.listing.Label
	if a.begin && v.state.Complete && v.state.Label != "" {
		a.gaps = append(a.gaps, Gap{Found: v.now, Reason: "the table has another stream than the one that was read before"})
	}
}

// takeUp takes free leases up to a fair share, else one of a process that has clearly more.
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
	if a.take = free[:max(0, min(len(free), share-mine))]; len(a.take) == 0 && len(free) == 0 {
		a.take = v.steal(have, mine)
	}
}

// steal chooses one lease of the process that has most, if that leaves it with no fewer than this process then has.
func (v view) steal(have map[string][]Lease, mine int) []Lease {
	var richest string
	for owner, leases := range have {
		if n := len(leases); n > len(have[richest]) || n == len(have[richest]) && owner < richest {
			richest = owner
		}
	}
	theirs := have[richest]
	if len(theirs) < mine+2 {
		return nil
	}
	v.shuffle(theirs)
	return theirs[:1]
}

// free tells whether a lease can be taken: nobody has it, or this process without knowing, or someone who is gone with the
// engine that was used, or who stopped renewing it.
func (v view) free(lease Lease) bool {
	if lease.Owner == "" || lease.Owner == v.me && !v.held[lease.Shard] || v.orphaned(lease) {
		return true
	}
	return v.now.Sub(v.sightings[lease.Shard].since) >= v.expiry
}

// orphaned tells whether the owner of a lease is provably unable to renew it.
func (v view) orphaned(lease Lease) bool {
	return v.engine != "" && lease.Engine != "" && lease.Engine != v.engine
}

// shuffle puts leases into an order of this process's own, so that several that start at once go for different ones.
func (v view) shuffle(leases []Lease) {
	place := func(lease Lease) uint64 {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(v.me + "/" + lease.Shard)) // never fails
		return hash.Sum64()
	}
	slices.SortFunc(leases, func(a, b Lease) int {
		if place(a) < place(b) {
			return -1
		}
		return 1
	})
}

func (v view) lease(shard string) (Lease, bool) {
	for _, lease := range v.leases {
		if lease.Shard == shard {
			return lease, true
		}
	}
	return Lease{}, false
}
