package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// describe describes actions in words.
func describe(a actions) string {
	var words []string
	for _, shard := range a.leave {
		words = append(words, "leave "+shard)
	}
	for _, gap := range a.gaps {
		words = append(words, strings.TrimSpace("gap "+gap.Shard))
	}
	for _, lease := range a.create {
		word := "create " + lease.Shard
		if !lease.CaughtUp.IsZero() {
			word += " caught up"
		}
		words = append(words, word)
	}
	for _, lease := range a.lost {
		words = append(words, "end "+lease.Shard)
	}
	if a.begin {
		words = append(words, "begin")
	}
	for _, lease := range a.take {
		words = append(words, "take "+lease.Shard)
	}
	return strings.Join(words, ", ")
}

// leasesOf parses leases written as "shard owner", "shard -" or "shard ended", each with ">parent"
// if it has one.
func leasesOf(lines ...string) []Lease {
	var leases []Lease
	for _, line := range lines {
		name, state, _ := strings.Cut(line, " ")
		shard, parent, _ := strings.Cut(name, ">")
		lease := Lease{Shard: shard, Parent: parent, Owner: state, Counter: 1, CaughtUp: testNow}
		switch state {
		case "-":
			lease.Owner = ""
		case "ended":
			lease.Owner, lease.Ended = "", true
		}
		leases = append(leases, lease)
	}
	return leases
}

func listingOf(label string, shards ...string) *Listing {
	listing := &Listing{Label: label}
	for _, name := range shards {
		shard, parent, _ := strings.Cut(name, ">")
		listing.Shards = append(listing.Shards, Shard{ID: shard, Parent: parent})
	}
	return listing
}

func TestDecide(t *testing.T) {
	begun := State{Label: "now"}
	through := func(engine string, leases ...Lease) []Lease {
		for i := range leases {
			leases[i].Engine = engine
		}
		return leases
	}
	for _, row := range []struct {
		why     string
		leases  []Lease
		listing *Listing
		state   State
		absent  string // a shard that was not listed twice
		stale   string // a lease that was not renewed
		held    string
		engine  string
		want    string
	}{
		{why: "nothing to do", want: ""},
		{why: "the first time, the oldest shards get leases without a gap",
			listing: listingOf("now", "a>gone", "b>a", "c"), want: "create a, create c, begin"},
		{why: "a stream is begun only once", listing: listingOf("now", "a"), leases: leasesOf("a me"), held: "a", state: begun, want: ""},
		{why: "another stream than before, where counts were complete", listing: listingOf("now", "a"),
			state: State{Label: "then", Complete: true}, want: "create a, begin"},
		{why: "another stream than before, where they were not", listing: listingOf("now", "a"), state: State{Label: "then"}, want: "create a, begin"},
		{why: "counted before any stream was read: a shard's reader checks later whether that is too long ago", listing: listingOf("now", "a"),
			state: State{Complete: true}, want: "create a, begin"},
		{why: "children wait for their parent", listing: listingOf("now", "a", "b>a", "c>b"), leases: leasesOf("a me"), held: "a", state: begun, want: ""},
		{why: "children of a parent that ended, caught up where it was", listing: listingOf("now", "a", "b>a", "c>a"), leases: leasesOf("a ended"),
			state: begun, want: "create b caught up, create c caught up"},
		{why: "a parent that ended explains its child also when it is gone", listing: listingOf("now", "b>a"), leases: leasesOf("a ended"),
			state: begun, want: "create b caught up"},
		{why: "a shard whose parent went without ever having a lease", listing: listingOf("now", "a", "c>b"), leases: leasesOf("a me"), held: "a",
			state: begun, want: "gap c, create c"},
		{why: "a shard missing from one listing may be listed in the next; it is left alone", listing: listingOf("now", "b"), leases: leasesOf("a -", "b me"),
			held: "b", state: begun, want: ""},
		{why: "a shard that is gone, free", listing: listingOf("now", "b>a"), leases: leasesOf("a -"), absent: "a", state: begun,
			want: "gap a, create b, end a"},
		{why: "a shard that is gone, of this process: first it stops reading", listing: listingOf("now", "b>a"), leases: leasesOf("a me"), absent: "a",
			held: "a", state: begun, want: "leave a"},
		{why: "a shard that is gone, of a live process: that process ends it", listing: listingOf("now", "b>a"), leases: leasesOf("a other"), absent: "a",
			state: begun, want: ""},
		{why: "free leases are taken", leases: leasesOf("a -", "b -"), want: "take a, take b"},
		{why: "a lease taken through an ended run of the engine is free", leases: through("earlier", leasesOf("a other")...), engine: "now", want: "take a"},
		{why: "a lease taken through the current run has an owner", leases: through("now", leasesOf("a other")...), engine: "now", want: ""},
		{why: "a lease without a run of the engine has an owner", leases: leasesOf("a other"), engine: "now", want: ""},
		{why: "a process that does not know its run leaves the lease alone", leases: through("earlier", leasesOf("a other")...), want: ""},
		{why: "an expired lease is taken", leases: leasesOf("a other"), stale: "a", want: "take a"},
		{why: "a lease of this process, which does not know of it, is taken up again", leases: leasesOf("a me"), want: "take a"},
		{why: "no more than a fair share", leases: leasesOf("a other", "b -", "c -", "d -"), want: "take b, take c"},
		{why: "the last of an odd number goes to the first that takes it", leases: leasesOf("a other", "b -", "c me"), held: "c", want: "take b"},
		{why: "one at a time from a process that has clearly more", leases: leasesOf("a other", "b other", "c other"), want: "take a"},
		{why: "not from a process that has one more", leases: leasesOf("a other", "b other", "c me"), held: "c", want: ""},
		{why: "from the richest", leases: leasesOf("a x", "b y", "c y", "d y", "e me"), held: "e", want: "take b"},
		{why: "an ended lease is left alone", leases: leasesOf("a ended"), want: ""},
	} {
		v := view{me: "me", now: testNow, expiry: time.Minute, engine: row.engine, leases: row.leases, listing: row.listing, state: row.state,
			held: map[string]bool{}, sightings: map[string]sighting{}, absent: map[string]int{}}
		for _, lease := range row.leases {
			v.sightings[lease.Shard] = sighting{since: testNow}
		}
		if row.listing != nil {
			v.absent = miss(nil, row.leases, *row.listing)
		}
		if row.stale != "" {
			v.sightings[row.stale] = sighting{since: testNow.Add(-time.Minute)}
		}
		if row.absent != "" {
			v.absent[row.absent] = absences
		}
		if row.held != "" {
			v.held[row.held] = true
		}
		if got := describe(decide(v)); got != row.want {
			t.Errorf("%s: %q, want %q", row.why, got, row.want)
		}
	}
}

// A lease expires by the time for which the observer has seen it unchanged.
func TestSight(t *testing.T) {
	later := testNow.Add(time.Minute)
	seen := sight(nil, []Lease{{Shard: "a", Owner: "x", Counter: 7}}, testNow)
	for _, row := range []struct {
		why   string
		lease Lease
		since time.Time
	}{
		{"unchanged", Lease{Shard: "a", Owner: "x", Counter: 7, CaughtUp: later}, testNow},
		{"renewed", Lease{Shard: "a", Owner: "x", Counter: 8}, later},
		{"taken by another", Lease{Shard: "a", Owner: "y", Counter: 7}, later},
		{"never seen", Lease{Shard: "b", Owner: "x", Counter: 7}, later},
	} {
		if got := sight(seen, []Lease{row.lease}, later)[row.lease.Shard].since; !got.Equal(row.since) {
			t.Errorf("%s: since %s, want %s", row.why, got, row.since)
		}
	}
}

func TestProcessedUpTo(t *testing.T) {
	early, late := testNow.Add(-time.Minute), testNow
	for _, row := range []struct {
		why    string
		leases []Lease
		want   time.Time
	}{
		{"there are no leases", nil, time.Time{}},
		{"one shard", []Lease{{CaughtUp: late}}, late},
		{"the one that lags most", []Lease{{CaughtUp: late}, {CaughtUp: early}}, early},
		{"one whose watermark is unknown", []Lease{{CaughtUp: late}, {}}, time.Time{}},
		{"ended ones are ignored", []Lease{{CaughtUp: early, Ended: true}, {CaughtUp: late}, {Ended: true}}, late},
	} {
		if got, known := ProcessedUpTo(row.leases); !got.Equal(row.want) || known == row.want.IsZero() {
			t.Errorf("%s: %s, %v", row.why, got, known)
		}
	}
}

// An import that ended, or servers that were stopped, leave leases behind. Where a function of AWS
// Lambda counts, these do not say how late counting is. A function that was replaced says nothing.
func TestFunctionHasComeFurther(t *testing.T) {
	for _, row := range []struct {
		why             string
		left, scheduled time.Duration // before now
		known           bool
	}{
		{"the function counts on", time.Hour, 4 * time.Minute, false},
		{"both count", time.Second, 0, true},
		{"readers count on", time.Second, time.Hour, true},
		{"both have ended, readers last", time.Hour, 2 * time.Hour, true},
	} {
		state, leases := State{Scheduled: testNow.Add(-row.scheduled)}, []Lease{{CaughtUp: testNow.Add(-row.left)}}
		if upTo, known := state.ProcessedUpTo(leases); known != row.known || known && !upTo.Equal(leases[0].CaughtUp) {
			t.Errorf("%s: %s, %v", row.why, upTo, known)
		}
	}
}

// The progress after records and heartbeats.
func TestProgress(t *testing.T) {
	record := func(sequence string, at time.Time) Record { return Record{Sequence: sequence, Created: at} }
	before := progress{Lease: Lease{Checkpoint: "1", CaughtUp: testNow}}
	ask := func(seconds int) time.Time { return testNow.Add(time.Duration(seconds) * time.Second) }
	for _, row := range []struct {
		why  string
		got  progress
		want string
	}{
		{"a record: all before its time, which is rough", before.through(record("2", ask(90)), 0, ask(90)), "2 +30s"},
		{"one from the future: a minute before now", before.through(record("2", ask(600)), 0, ask(90)), "2 +30s"},
		{"an older record takes nothing back", before.through(record("2", ask(-5)), 1, ask(90)), "2 +0s"},
		{"a heartbeat: all before it was sent", before.heard(Heartbeat{Sent: ask(5)}, true), "1 +5s"},
		{"one that was overtaken takes nothing back", before.heard(Heartbeat{Sent: ask(-5)}, true), "1 +0s"},
		{"one of another shard's reader, whose clock is another", before.heard(Heartbeat{Sent: ask(5)}, false), "1 +0s"},
		{"the oldest record again: nothing is known", before.fromHorizon(), " unknown"},
		{"counts from another way are processed", resume(Lease{}, State{Complete: true, Since: ask(3)}, ask(3)), " +3s"},
		{"but not by a clock that is far ahead", resume(Lease{}, State{Complete: true, Since: ask(3)}, testNow), " unknown"},
		{"but not if it is not complete", resume(Lease{}, State{Since: ask(3)}, ask(3)), " unknown"},
	} {
		got := row.got.Checkpoint + " unknown"
		if !row.got.CaughtUp.IsZero() {
			got = fmt.Sprintf("%s +%v", row.got.Checkpoint, row.got.CaughtUp.Sub(testNow))
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q", row.why, got, row.want)
		}
	}
}

// Keys are tried until a heartbeat comes through the shard, and again when the key no longer leads
// there.
func TestKeysOfHeartbeats(t *testing.T) {
	drawn := int64(0)
	draw := func(int64) int64 { drawn++; return drawn }
	p := progress{}
	for _, row := range []struct {
		why  string
		came string // key of the heartbeat that came through before
		own  bool
		want string
	}{
		{"no key is known", "", false, "[1 2 3 4]"},
		{"none came through: twice as many", "", false, "[5 6 7 8 9 10 11 12]"},
		{"one did, sent by the reader of another shard", "77", false, "[77]"},
		{"it goes on", "77", true, "[77]"},
		{"a second key does not replace the first", "5", true, "[77]"},
		{"it is late", "", false, "[77]"},
		{"it is overdue: the shard has split, and the key leads to a sibling", "", false, "[77 13 14 15 16]"},
		{"it was late only", "77", true, "[77]"},
		{"late", "", false, "[77]"},
		{"late", "", false, "[77]"},
		{"overdue", "", false, "[77 17 18 19 20]"},
		{"one that was tried then came through", "18", true, "[18]"},
	} {
		if row.came != "" {
			p = p.heard(Heartbeat{Key: row.came}, row.own)
		}
		if got := fmt.Sprint(p.nextKeys(draw)); got != row.want {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
		p = p.sent()
	}
}

// However many shards there are, each finds a key soon. A reader that is behind tries no keys.
func TestKeysOfManyShards(t *testing.T) {
	const shards = 1000
	readers := make([]progress, shards)
	heartbeats, left := 0, shards
	for ; left > 0 && heartbeats < 300; heartbeats++ {
		for i, p := range readers {
			readers[i] = p.sent()
			if p.Heartbeat != "" {
				continue
			}
			for _, key := range p.nextKeys(rand.Int64N) {
				if leads := rand.IntN(shards); readers[leads].Heartbeat == "" {
					readers[leads] = readers[leads].heard(Heartbeat{Key: key}, leads == i)
					left--
				}
			}
		}
	}
	if t.Logf("%d shards have keys after %d heartbeats", shards-left, heartbeats); left > 0 {
		t.Errorf("%d shards have none", left)
	}
	p := progress{Lease: Lease{Heartbeat: "77"}, behind: true}
	for range 10 {
		if keys := p.nextKeys(rand.Int64N); len(keys) > 1 {
			t.Fatalf("behind, a reader tries %v", keys)
		}
		p = p.sent()
	}
}

// A fence is passed once each open shard has received a heartbeat that was sent after a later write
// of its lease.
func TestFence(t *testing.T) {
	fence := FenceOf([]Lease{{Shard: "a", Counter: 7, Proven: 6}, {Shard: "b", Counter: 3}})
	for _, row := range []struct {
		why    string
		leases []Lease
		passed bool
	}{
		{"no shard is read", nil, false},
		{"as it was", []Lease{{Shard: "a", Counter: 7, Proven: 6}, {Shard: "b", Counter: 3}}, false},
		{"a heartbeat sent after the last write before the fence may have been sent before it",
			[]Lease{{Shard: "a", Counter: 9, Proven: 7}, {Shard: "b", Ended: true}}, false},
		{"both shards came further", []Lease{{Shard: "a", Counter: 9, Proven: 8}, {Shard: "b", Counter: 6, Proven: 4}}, true},
		{"one has ended, and nothing is known of its child", []Lease{{Shard: "a", Proven: 8}, {Shard: "b", Ended: true}, {Shard: "c", Counter: 2}}, false},
		{"one has ended, and its child came further", []Lease{{Shard: "a", Proven: 8}, {Shard: "b", Ended: true}, {Shard: "c", Counter: 2, Proven: 1}}, true},
	} {
		if fence.Passed(row.leases) != row.passed {
			t.Errorf("%s: %v", row.why, !row.passed)
		}
	}
}

// A watermark never lies in the future, even if it comes from a clock that was ahead. From one that
// was far ahead, nothing is known, and no gap is found.
func TestClocksAhead(t *testing.T) {
	p, lost := resume(Lease{CaughtUp: testNow.Add(time.Second)}, State{}, testNow).outOfReach(testNow)
	if lost || !p.CaughtUp.Equal(testNow) {
		t.Errorf("another process's time in the future becomes %v", p.CaughtUp)
	}
	far, lost := resume(Lease{CaughtUp: testNow.Add(5 * time.Minute)}, State{}, testNow).outOfReach(testNow)
	if lost || !far.CaughtUp.IsZero() {
		t.Errorf("one from far in the future becomes %v, lost %v", far.CaughtUp, lost)
	}
	late := p.heard(Heartbeat{Sent: testNow.Add(5 * time.Minute)}, true).intoReach(testNow.Add(time.Second))
	if !late.CaughtUp.Equal(testNow.Add(time.Second)) {
		t.Errorf("a heartbeat sent in the future makes it %v", late.CaughtUp)
	}
	if later, _ := late.outOfReach(testNow.Add(time.Hour)); !later.CaughtUp.Equal(late.CaughtUp) {
		t.Errorf("time alone makes it %v", later.CaughtUp)
	}
}

// Consumer.ProcessedUpTo needs leases of all shards, and clocks that differ little.
func TestProcessedUpToFromMemory(t *testing.T) {
	now := time.Now()
	for _, row := range []struct {
		why      string
		caughtUp time.Time
		complete bool
		at       time.Time
		known    bool
		current  bool
	}{
		{"all is known", now.Add(-time.Second), true, now, true, true},
		{"by a clock that is a little ahead", now.Add(time.Second), true, now, true, true},
		{"by a clock that is far ahead", now.Add(5 * time.Minute), true, now, false, true},
		{"some shards have no lease yet, or there was a gap", now.Add(-time.Second), false, now, false, true},
		{"the leases were read long ago", now.Add(-time.Minute), true, now.Add(-time.Minute), false, false},
	} {
		var c Consumer
		c.readers.see(sighted{at: row.at, leases: []Lease{{Shard: "a", CaughtUp: row.caughtUp}}, complete: row.complete})
		before, known, current := c.ProcessedUpTo()
		if known != row.known || current != row.current || before.After(time.Now()) {
			t.Errorf("%s: %v, known %v, current %v", row.why, before.Sub(now), known, current)
		}
	}
}

// A process follows the stream while it reads every shard that has not ended, from the time it
// began the last of them.
func TestFollows(t *testing.T) {
	now := time.Now()
	open := func(shard string, age time.Duration) Lease { return Lease{Shard: shard, CaughtUp: now.Add(-age)} }
	ended := Lease{Shard: "ended", Ended: true}
	for _, row := range []struct {
		why   string
		seen  sighted
		reads []Lease
		ok    bool
	}{
		{"it reads all", sighted{now, []Lease{ended, open("a", 9*time.Second), open("b", 9*time.Second)}, true}, []Lease{open("a", 3*time.Second), open("b", time.Second)}, true},
		{"another process reads one", sighted{now, []Lease{open("a", 0), open("b", 0)}, true}, []Lease{open("a", 0)}, false},
		{"it reads none", sighted{now, []Lease{ended}, true}, nil, false},
		{"nothing is known of one", sighted{now, []Lease{open("a", 0)}, true}, []Lease{{Shard: "a"}}, false},
		{"there was a gap", sighted{now, []Lease{open("a", 0)}, false}, []Lease{open("a", 0)}, false},
		{"the leases were read long ago", sighted{now.Add(-time.Hour), []Lease{open("a", 0)}, true}, []Lease{open("a", 0)}, false},
		{"by a clock that is far ahead", sighted{now, []Lease{open("a", 0)}, true}, []Lease{open("a", -time.Hour)}, false},
	} {
		var c Consumer
		c.readers.see(row.seen)
		for i, lease := range row.reads {
			// The clock was an hour ahead when it took up the lease.
			c.readers.set(lease.Shard, &reader{progress: resume(lease, State{}, now.Add(time.Hour)), since: now.Add(time.Duration(i) * time.Second)})
		}
		since, upTo, ok := c.Follows()
		if ok != row.ok || ok && (!since.Equal(now.Add(time.Second)) || !upTo.Equal(now.Add(-3*time.Second))) {
			t.Errorf("%s: %t, since %v, up to %v", row.why, ok, since.Sub(now), upTo.Sub(now))
		}
	}
}

// Records that may be missing are reported once, when the watermark falls out of reach.
func TestOutOfReach(t *testing.T) {
	reach := retention - retentionMargin
	for _, row := range []struct {
		why   string
		lease Lease
		after time.Duration
		lost  bool
	}{
		{"within reach", Lease{CaughtUp: testNow}, reach - time.Second, false},
		{"out of reach", Lease{CaughtUp: testNow}, reach, true},
		{"never known: it is read from the oldest record, and nothing was promised", Lease{}, 2 * reach, false},
	} {
		p, lost := resume(row.lease, State{}, testNow).outOfReach(testNow.Add(row.after))
		if lost != row.lost {
			t.Errorf("%s: %v", row.why, lost)
		}
		if _, again := p.outOfReach(testNow.Add(row.after)); again {
			t.Errorf("%s: reported twice", row.why)
		}
		if lost && !p.shown().CaughtUp.IsZero() {
			t.Errorf("%s: the next owner of the lease would report it again", row.why)
		}
	}
}

// A shard that this process has read to its end counts toward the watermark until the leases of its
// children are known, since their records may not be processed.
func TestWatermarkOfAShardThatEnded(t *testing.T) {
	now := time.Now()
	early, late := now.Add(-20*time.Second), now.Add(-time.Second)
	ended, read := Lease{Shard: "ended", CaughtUp: early}, Lease{Shard: "read", CaughtUp: late}
	var c Consumer
	c.readers.see(sighted{at: now, leases: []Lease{ended, read}, complete: true})
	ended.Ended = true
	c.readers.set("ended", &reader{progress: resume(ended, State{}, now)})
	c.readers.set("read", &reader{progress: resume(read, State{}, now)})
	if before, known, current := c.ProcessedUpTo(); !known || !current || !before.Equal(early) {
		t.Errorf("processed until %v before now (%v, %v), want 20s", now.Sub(before), known, current)
	}
	child := Lease{Shard: "child", Parent: "ended", CaughtUp: early}
	c.readers.see(sighted{at: now, leases: []Lease{ended, read, child}, complete: true})
	child.CaughtUp = now.Add(-10 * time.Second)
	c.readers.set("child", &reader{progress: resume(child, State{}, now)})
	if before, _, _ := c.ProcessedUpTo(); !before.Equal(child.CaughtUp) {
		t.Errorf("with the child: processed until %v before now, want 10s", now.Sub(before))
	}
}

// Only counts that were complete with an earlier stream have a gap when another one begins, also if
// they are complete only since the decision to begin.
func TestStreamBegins(t *testing.T) {
	for _, row := range []struct {
		why  string
		from State
		gap  bool
	}{
		{"complete with another stream", State{Label: "then", Complete: true}, true},
		{"not complete", State{Label: "then", Gap: &Gap{Reason: "earlier"}}, false},
		{"complete without a stream", State{Complete: true}, false},
		{"begun by another process", State{Label: "now", Complete: true}, false},
	} {
		to, gap := row.from.begun("now", testNow)
		if (gap != nil) != row.gap || to.Label != "now" || to.Complete != (row.from.Complete && !row.gap) || row.gap != (to.Gap != row.from.Gap) {
			t.Errorf("%s: %+v, gap %+v", row.why, to, gap)
		}
	}
}
