package dynamo

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
)

// followed is a stream that a process reads: since when, how far it lags, and whether it reads all.
type followed struct {
	since time.Time
	lag   func() time.Duration
	all   bool
}

func (f *followed) follows() (since, upTo time.Time, ok bool) {
	return f.since, time.Now().Add(-f.lag()), f.all
}

// heartbeats is how far a watermark lags that moves every two seconds, a second late.
func heartbeats() time.Duration {
	return time.Second + time.Duration(time.Now().UnixMilli()%2000)*time.Millisecond
}

// A page is shown beyond its age while the stream proves that it did not change, and not a moment longer.
func TestPagesThatAreProven(t *testing.T) {
	late := func() time.Duration { return unheardFor + time.Millisecond }
	settled := filtered
	settled.SettledOnly = true
	for _, row := range []struct {
		why    string
		q      comment.Query
		before func(*visits, *followed) // the page is read
		after  func(*visits, *followed) // a minute later
		then   time.Duration
		read   bool
	}{
		{why: "nothing changed", q: filtered},
		{why: "nothing changed for long", q: filtered, then: provenFor, read: true},
		{why: "another product changed", q: filtered, after: func(v *visits, _ *followed) { v.changed("43") }},
		{why: "it changed", q: filtered, after: func(v *visits, _ *followed) { v.changed("42") }, read: true},
		{why: "an index may have lacked a change", q: filtered, before: func(v *visits, _ *followed) {
			v.changed("42")
			time.Sleep(moveAge - time.Millisecond)
		}, read: true},
		{why: "no index lacks a change for so long", q: filtered, before: func(v *visits, _ *followed) {
			v.changed("42")
			time.Sleep(moveAge)
		}},
		{why: "the stream is late", q: filtered, after: func(_ *visits, f *followed) { f.lag = late }, read: true},
		{why: "another process reads a shard", q: filtered, after: func(_ *visits, f *followed) { f.all = false }, read: true},
		{why: "another process read a shard at that time", q: filtered, after: func(_ *visits, f *followed) {
			f.since = time.Now().Add(-time.Minute)
		}, read: true},
		{why: "what is settled changes by itself", q: settled, read: true},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &followed{since: time.Now(), lag: heartbeats, all: true}
				v := &visits{}
				v.Store = NewStore(readOnly{fakeQuerier: &fakeQuerier{query: v.query}}, "comments", Options{PageAge: time.Second, Following: f.follows})
				time.Sleep(time.Hour)
				if row.before != nil {
					row.before(v, f)
				}
				v.visit(t, row.q)
				time.Sleep(time.Minute)
				if row.after != nil {
					row.after(v, f)
				}
				time.Sleep(row.then)
				if read, _ := v.visit(t, row.q); read != row.read {
					t.Errorf("read %t, want %t", read, row.read)
				}
			})
		})
	}
}

// With a proof, a thousand views cost as many reads, whether they come within a second or within a quarter
// of an hour. With an age alone, they cost a read in each such time, and without that each costs one.
func TestThousandViews(t *testing.T) {
	const unproven, proven = false, true
	for _, row := range []struct {
		age     time.Duration
		follows bool
		views   int
		each    time.Duration // time between views
		reads   int32
	}{
		{0, unproven, 10, time.Second, 10},
		{0, unproven, 1000, time.Millisecond, 1000},
		{time.Second, unproven, 10, time.Second, 10},
		{time.Second, unproven, 100, 100 * time.Millisecond, 10},
		{time.Second, unproven, 10_000, time.Millisecond, 10},
		{time.Second, proven, 1000, time.Millisecond, 1},
		{time.Second, proven, 1000, 100 * time.Millisecond, 1},
		{time.Second, proven, 1000, time.Second, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &followed{since: time.Now(), lag: heartbeats, all: row.follows}
			v := &visits{}
			v.Store = NewStore(readOnly{fakeQuerier: &fakeQuerier{query: v.query}}, "comments", Options{PageAge: row.age, Following: f.follows})
			time.Sleep(time.Hour)
			for range row.views {
				v.visit(t, paged)
				time.Sleep(row.each)
			}
			if got := v.reads.Load(); got != row.reads {
				t.Errorf("%d views, one each %v, kept for %v, proven %t: %d reads, want %d", row.views, row.each, row.age, row.follows, got, row.reads)
			}
		})
	}
}

// An answer may be made of what was in memory for --page-age, so a change counts as long before it.
func TestUnchanged(t *testing.T) {
	const age = time.Minute
	for since, want := range map[time.Duration]bool{0: false, age: false, age + moveAge - 1: false, age + moveAge + 1: true} {
		synctest.Test(t, func(t *testing.T) {
			f := &followed{since: time.Now(), lag: heartbeats, all: true}
			s := NewStore(readOnly{fakeQuerier: &fakeQuerier{}}, "comments", Options{PageAge: age, Following: f.follows})
			time.Sleep(time.Hour)
			s.changed("42")
			time.Sleep(since)
			if got := s.Unchanged([]string{"41", "42"}, time.Now()); got != want {
				t.Errorf("%v after a change: %t", since, got)
			}
			if began := time.Now(); want {
				time.Sleep(provenFor - age + 1)
				if s.Unchanged([]string{"42"}, began) {
					t.Error("what is old is proven")
				}
			}
		})
	}
}
