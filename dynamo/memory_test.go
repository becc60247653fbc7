package dynamo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
)

const trustFor = 5 * time.Second

// reader stands in for the watermark of the stream's consumers and for the table.
type reader struct {
	lag     time.Duration // of the watermark
	unknown bool          // whether the watermark has no value
	broken  error         // of every read
	took    time.Duration // duration of each read
	stats   comment.Stats
	newest  *layout.Bounds

	marks, statistic atomic.Int32 // reads of the watermark and of statistics
}

// reads returns how often the watermark and the statistics were read.
func (r *reader) reads() (marks, statistics int) {
	synctest.Wait()
	return int(r.marks.Load()), int(r.statistic.Load())
}

// ProcessedUpTo implements Watermark.
func (r *reader) ProcessedUpTo(ctx context.Context) (time.Time, bool, error) {
	r.marks.Add(1)
	upTo := time.Now().Add(-r.lag)
	time.Sleep(r.took)
	return upTo, !r.unknown, errors.Join(r.broken, ctx.Err())
}

func (r *reader) read(context.Context, string) (counts.Snapshot, error) {
	r.statistic.Add(1)
	time.Sleep(r.took)
	return counts.Snapshot{Stats: r.stats, Newest: r.newest}, r.broken
}

var (
	filtered   = comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1}}}
	unfiltered = comment.Query{Product: "42"}
)

// inTime runs a test of a memory in a synctest bubble.
func inTime(t *testing.T, r *reader, test func(t *testing.T, m *memory)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r.stats = comment.Stats{"de": {Counts: comment.Counts{0, 1}}}
		test(t, newMemory(r, trustFor, newChanges(), r.read))
		synctest.Wait()
	})
}

// settle asks for a product twice, and waits until the reads have ended.
func settle(m *memory) {
	m.recall(filtered)
	m.recall(filtered)
	time.Sleep(recallTimeout)
	synctest.Wait()
}

// A page never waits for statistics. They are read for later pages, and only when the product is
// asked for again within the age.
func TestMemoryReadsForTheNextPage(t *testing.T) {
	r := &reader{took: 10 * time.Millisecond}
	inTime(t, r, func(t *testing.T, m *memory) {
		start := time.Now()
		for range 3 {
			if known := m.recall(unfiltered); known.Stats != nil {
				t.Errorf("%+v is known before any read", known)
			}
		}
		m.recall(filtered)
		if marks, statistics := r.reads(); marks+statistics > 0 {
			t.Errorf("%d and %d reads for a product that is hardly asked for", marks, statistics)
		}
		m.recall(filtered)
		if took := time.Since(start); took > 0 {
			t.Errorf("a page waited for %v", took)
		}
		time.Sleep(time.Second)
		known := m.recall(filtered)
		if !known.Trusted || known.Age != time.Second || known.Stats["de"].Counts != (comment.Counts{0, 1}) {
			t.Errorf("%+v; want statistics of a second ago", known)
		}
		if unfiltered := m.recall(unfiltered); !unfiltered.Trusted {
			t.Errorf("%+v; every page should get the statistics", unfiltered)
		}
	})
}

// A query that needs the size of the whole list reads statistics, also without a filter.
func TestMemoryReadsForPagesByNumber(t *testing.T) {
	for _, row := range []struct {
		why  string
		q    comment.Query
		want int
	}{
		{"the first page", comment.Query{Product: "42", Slice: comment.Slice{Size: 20, Page: 1}}, 0},
		{"any other", comment.Query{Product: "42", Slice: comment.Slice{Size: 20, Page: 2}}, 1},
		{"a link to the last page", comment.Query{Product: "42", Slice: comment.Slice{Size: 20}, Numbering: comment.Numbering{Links: true}}, 1},
	} {
		r := &reader{}
		inTime(t, r, func(t *testing.T, m *memory) {
			m.recall(row.q)
			m.recall(row.q)
			if _, read := r.reads(); read != row.want {
				t.Errorf("%s: statistics were read %d times, want %d", row.why, read, row.want)
			}
		})
	}
}

// A product without statistics is read when it is requested a second time, however late: any
// statistics steer better than none, for as long as they are remembered. After that, only frequent
// requests keep them young.
func TestMemoryOfAProductAskedForSeldom(t *testing.T) {
	r := &reader{}
	inTime(t, r, func(t *testing.T, m *memory) {
		for visit, want := range []int{0, 1, 1, 1} {
			known := m.recall(filtered)
			if _, statistics := r.reads(); statistics != want {
				t.Errorf("visit %d: %d reads, want %d", visit, statistics, want)
			}
			if steered := known.Stats != nil; steered != (visit > 1) || known.Trusted {
				t.Errorf("visit %d: %+v", visit, known)
			}
			time.Sleep(time.Hour)
		}
	})
}

// Statistics that were read to be shown also steer plans. They are never trusted, and never replace
// trusted ones.
func TestMemoryHearsWhatIsShown(t *testing.T) {
	r := &reader{}
	shown := comment.Stats{"en": {Counts: comment.Counts{7}}}
	inTime(t, r, func(t *testing.T, m *memory) {
		m.learnFromAnswer("42", shown)
		if known := m.recall(filtered); known.Trusted || known.Stats["en"] != shown["en"] {
			t.Errorf("%+v; want what was shown, not trusted", known)
		}
		settle(m)
		m.learnFromAnswer("42", shown)
		if known := m.recall(filtered); !known.Trusted || known.Stats["de"] != r.stats["de"] {
			t.Errorf("%+v; want what was read to be trusted", known)
		}
		time.Sleep(trustFor + time.Second)
		m.learnFromAnswer("42", shown)
		if known := m.recall(unfiltered); known.Trusted || known.Stats["en"] != shown["en"] {
			t.Errorf("%+v; want the younger ones, not trusted", known)
		}
	})
}

// When the stream's consumers lag or have stopped, the age of statistics counts from the watermark,
// not from when they were read. A watermark in the future does not make them look younger than they
// are by this server's own clock.
func TestMemoryOfAConsumerThatLags(t *testing.T) {
	for _, row := range []struct {
		why          string
		reader       *reader
		maxAge, wait time.Duration
		trusted      bool
		reads        int // of statistics
	}{
		{"a moment behind", &reader{lag: time.Second}, trustFor, time.Second, true, 1},
		{"old enough by the lag and the time since", &reader{lag: 4 * time.Second}, trustFor, 2 * time.Second, false, 1},
		{"too far behind to trust, so statistics only steer", &reader{lag: 6 * time.Second}, trustFor, 0, false, 1},
		{"unknown", &reader{unknown: true}, trustFor, 0, false, 1},
		{"cannot be read", &reader{broken: errors.New("broken")}, trustFor, 0, false, 0},
		{"by a clock that is a little ahead, at the end of their age", &reader{lag: -clockMargin}, trustFor, trustFor, true, 1},
		{"just older than their age", &reader{lag: -clockMargin}, trustFor, trustFor + 1, false, 1},
		{"clocks that differ too much to be compared", &reader{lag: -clockMargin - 1}, trustFor, 0, false, 1},
		{"an age of 0 trusts nothing when clocks agree", &reader{}, 0, 0, false, 1},
		{"0 trusts nothing by a clock that is a little ahead", &reader{lag: -clockMargin}, 0, 0, false, 1},
		{"a negative age trusts nothing either", &reader{lag: -clockMargin}, -time.Second, 0, false, 1},
	} {
		t.Run(row.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := row.reader
				r.stats = comment.Stats{"de": {Counts: comment.Counts{0, 1}}}
				m := newMemory(r, row.maxAge, newChanges(), r.read)
				m.recall(filtered)
				m.recall(filtered)
				synctest.Wait()
				time.Sleep(row.wait)
				marks, statistics := r.reads()
				known := m.recall(unfiltered)
				if known.Trusted != row.trusted || statistics != row.reads || (known.Stats != nil) != (row.reads > 0) || known.Age < 0 || known.AsOf.After(time.Now()) {
					t.Errorf("%+v after %d reads", known, statistics)
				}
				if row.maxAge <= 0 && marks > 0 {
					t.Error("a watermark was read that nothing needs")
				}
			})
		})
	}
}

// When the clock of a server is set back, what it remembers does not look young for as long. The
// watermark is then ahead of the clock, and the time of the read is not.
func TestMemoryOfAClockThatIsSetBack(t *testing.T) {
	stats := comment.Stats{"de": {Counts: comment.Counts{0, 1}}}
	for _, row := range []struct {
		ago   time.Duration
		young bool
	}{{trustFor, true}, {trustFor + 1, false}} {
		synctest.Test(t, func(t *testing.T) {
			m := newMemory(&reader{}, trustFor, newChanges(), nil)
			read, asOf := time.Now(), time.Now().Add(time.Hour)
			m.products.Add("42", recollection{stats: stats, asOf: asOf, read: read})
			time.Sleep(row.ago)
			if known := m.recall(comment.Query{Product: "42"}); known.Trusted != row.young || known.Age != row.ago {
				t.Errorf("%s later: %+v", row.ago, known)
			}
			if _, may := m.reusable(lastAnswer{Snapshot: counts.Snapshot{Stats: stats}, asOf: asOf, began: read}, "42"); may != row.young {
				t.Errorf("%s later, another answer may show the same: %v", row.ago, may)
			}
		})
	}
}

// A process counts while its clock is a minute ahead, and then falls a minute behind. Its watermark
// seems right, but lacks that minute. It is not trusted until clocks have agreed for a while.
func TestMemoryOfAClockThatIsAhead(t *testing.T) {
	r := &reader{lag: -57 * time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		trusted := func() bool {
			settle(m)
			return m.recall(filtered).Trusted
		}
		if trusted() {
			t.Error("a watermark far ahead is trusted")
		}
		for _, row := range []struct {
			after   time.Duration
			trusted bool
		}{{time.Minute, false}, {doubtFor - 2*time.Minute, false}, {2 * time.Minute, true}} {
			r.lag = time.Second
			time.Sleep(row.after)
			if got := trusted(); got != row.trusted {
				t.Errorf("%s later, it is trusted: %v", row.after, got)
			}
		}
	})
}

// Reads of statistics at nearly the same time share one read of the watermark. It comes first, so
// the statistics include at least everything up to the watermark.
func TestMemoryAsksOnceHowFarItIs(t *testing.T) {
	r := &reader{took: 100 * time.Millisecond}
	inTime(t, r, func(t *testing.T, m *memory) {
		start := time.Now()
		for range 2 {
			for _, product := range []string{"a", "b", "c"} {
				m.recall(comment.Query{Product: product, Filter: filtered.Filter})
			}
		}
		time.Sleep(time.Second / 2)
		if marks, statistics := r.reads(); marks != 1 || statistics != 3 {
			t.Errorf("%d reads of the watermark for %d products", marks, statistics)
		}
		if known := m.recall(comment.Query{Product: "c"}); !known.AsOf.Equal(start) {
			t.Errorf("known as of %v, want %v, when the watermark was read", known.AsOf, start)
		}
	})
}

// A caller that leaves while it asks how far counting has come leaves that to the next one. That
// the table does not answer in time holds for all callers, for a second.
func TestMemoryOfCallersThatLeave(t *testing.T) {
	for _, row := range []struct {
		why      string
		wait     time.Duration // of the first caller, before it leaves
		patience time.Duration // of the first caller
		known    bool
	}{
		{"the first caller leaves", time.Second / 2, time.Minute, true},
		{"the first caller has no more time", time.Minute, time.Second / 2, false},
	} {
		inTime(t, &reader{took: time.Second}, func(t *testing.T, m *memory) {
			ctx, leave := context.WithTimeout(t.Context(), row.patience)
			time.AfterFunc(row.wait, leave)
			go func() { _, _, _ = m.mark.upTo(ctx) }()
			synctest.Wait()
			if _, known, err := m.mark.upTo(t.Context()); known != row.known || err != nil {
				t.Errorf("%s: the second knows it: %v, %v", row.why, known, err)
			}
			leave()
		})
	}
}

// An author on this server finds a new comment: no partition is skipped until the statistics
// include it.
func TestMemoryOfOwnWrites(t *testing.T) {
	r := &reader{lag: time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		settle(m)
		if !m.recall(filtered).Trusted {
			t.Fatal("nothing is trusted")
		}
		m.wrote("43")
		if !m.recall(filtered).Trusted {
			t.Error("a write to another product matters")
		}
		m.wrote("42")
		written := time.Now()
		for time.Since(written) < time.Minute {
			known := m.recall(filtered)
			if known.Trusted && !known.AsOf.After(written.Add(clockMargin)) {
				t.Fatalf("%v after the write, statistics of %v before are trusted", time.Since(written), written.Sub(known.AsOf))
			}
			if known.Trusted {
				return
			}
			time.Sleep(time.Second / 10)
		}
		t.Error("after a minute nothing is trusted yet")
	})
}

// When the stream reports a comment in a cell that is empty in the statistics, the statistics are
// no longer trusted, nor are those that were being read at that time. A comment in any other cell
// does not matter.
func TestMemoryOfWhatTheStreamTells(t *testing.T) {
	empty, held := &comment.Cell{Language: "de", Rating: 1}, &comment.Cell{Language: "de", Rating: 2}
	for _, row := range []struct {
		why     string
		product string
		cell    *comment.Cell
		trusted bool
	}{
		{"a comment where there was none", "42", empty, false},
		{"a comment in a language in which there was none", "42", &comment.Cell{Language: "en", Rating: 2}, false},
		{"a comment where there are others", "42", held, true},
		{"a deleted comment", "42", nil, true},
		{"a comment of another product", "43", empty, true},
	} {
		r := &reader{}
		inTime(t, r, func(t *testing.T, m *memory) {
			settle(m)
			m.noteChange(row.product, comment.Position{}, row.cell)
			if known := m.recall(filtered); known.Trusted != row.trusted || known.Stats == nil {
				t.Errorf("%s: %+v", row.why, known)
			}
			time.Sleep(trustFor)
			settle(m)
			if !m.recall(filtered).Trusted {
				t.Errorf("%s: statistics read since then are not trusted", row.why)
			}
		})
	}
	r := &reader{took: time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		m.recall(filtered)
		m.recall(filtered)
		time.Sleep(r.took * 3 / 2) // the statistics are being read
		m.changes.note("42", time.Now())
		time.Sleep(r.took)
		if known := m.recall(unfiltered); known.Trusted || known.Stats == nil {
			t.Errorf("%+v; want untrusted statistics, which may lack changes reported during the read", known)
		}
	})
}

// When the stream reports a comment newer than the newest in the statistics, these are corrected
// and stay trusted. Otherwise a product that gets comments all the time would never have trusted
// ones. Copies that others hold do not change.
func TestMemoryHearsOfNewerComments(t *testing.T) {
	cell, before, after := comment.Cell{Language: "de", Rating: 2}, comment.Position{1}, comment.Position{2}
	r := &reader{newest: &layout.Bounds{}}
	r.newest.Enter(cell, 0, before)
	inTime(t, r, func(t *testing.T, m *memory) {
		settle(m)
		m.noteChange("42", after, &cell)
		known := m.recall(filtered)
		if bound := known.Newest.Rated([]int{2}); !known.Trusted || bound != (layout.Bound{Position: after, Exact: true}) {
			t.Errorf("%+v, trusted %v", bound, known.Trusted)
		}
		if bound := r.newest.Rated(nil); bound.Position != before {
			t.Errorf("the copy of the reader changed to %+v", bound)
		}
	})
}

// Once a write is forgotten, it counts as a write to every product.
func TestMemoryOfMoreWritesThanItHolds(t *testing.T) {
	r := &reader{}
	inTime(t, r, func(t *testing.T, m *memory) {
		settle(m)
		m.wrote("42")
		for n := range remembered {
			m.wrote(string(rune('a'+n%26)) + time.Duration(n).String())
		}
		if m.writes.products.Contains("42") {
			t.Fatal("the write is still remembered")
		}
		if m.recall(filtered).Trusted {
			t.Error("a write was forgotten")
		}
	})
}

// A failing table is not read again before the age has passed, and a panic does not end the
// process.
func TestMemoryOfLostReads(t *testing.T) {
	r := &reader{broken: errors.New("broken")}
	inTime(t, r, func(t *testing.T, m *memory) {
		for range 100 {
			m.recall(filtered)
			time.Sleep(trustFor / 100)
		}
		if marks, statistics := r.reads(); marks > 1 || statistics > 0 {
			t.Errorf("%d and %d reads of a broken table within the age", marks, statistics)
		}
		m.read = func(context.Context, string) (counts.Snapshot, error) { panic("a bug of ours") }
		r.broken = nil
		time.Sleep(trustFor)
		settle(m)
		if known := m.recall(filtered); known.Trusted {
			t.Errorf("%+v is known from a panic", known)
		}
	})
}

// Only a few reads at a time wait for a slow table.
func TestMemoryReadsFewAtOnce(t *testing.T) {
	r := &reader{took: time.Second}
	inTime(t, r, func(t *testing.T, m *memory) {
		for range 2 {
			for n := range 100 {
				m.recall(comment.Query{Product: time.Duration(n).String(), Filter: filtered.Filter})
			}
		}
		synctest.Wait()
		if under := len(m.slots); under != recallsAtOnce {
			t.Errorf("%d reads at once", under)
		}
		time.Sleep(recallTimeout)
	})
}
