package keeper

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
	"github.com/talkback/talkback/stream"
)

// memory is a table in memory that has counted everything.
type memory struct {
	mu       sync.Mutex
	registry Registry
	reads    int
	writes   int
	err      error
	hangs    bool // writes hang until their contexts end
}

func (m *memory) Registry(context.Context) (Registry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reads++
	return m.registry, m.err
}

func (m *memory) SwapRegistry(ctx context.Context, old, next Registry) error {
	if m.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old.Version != m.registry.Version {
		return comment.Errorf(comment.Conflict, "another process wrote this meanwhile")
	}
	next.Version++
	m.registry = next
	m.writes++
	return m.err
}

func (m *memory) Current(context.Context) (stream.State, []stream.Lease, error) {
	return stream.State{Complete: true, Since: time.Unix(7, 0)}, nil, nil
}

func (m *memory) All(ctx context.Context, do func(context.Context, []pageindex.Entry) error) error {
	return do(ctx, []pageindex.Entry{{Product: "p", Cell: &comment.Cell{Language: "en", Rating: 5}, Follows: "2026/1"}})
}

// faulty is a store whose Apply fails, or hangs until its context ends.
type faulty struct {
	*conformance.Model
	err   error
	hangs bool
	tries int
}

func (f *faulty) Apply(ctx context.Context, entries []pageindex.Entry) error {
	f.tries++
	if f.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.err != nil {
		return f.err
	}
	return f.Model.Apply(ctx, entries)
}

// newKeeper returns a keeper of a store of a table. It logs to said.
func newKeeper(table *memory, store pageindex.Store, said *bytes.Buffer) *Keeper {
	return New(Options{
		Name: "store", Store: store, Table: table, Progress: table, Entries: table, Who: "a test",
		Logger: slog.New(slog.NewTextHandler(said, nil)),
	})
}

func mustBuild(t *testing.T, k *Keeper) {
	t.Helper()
	if n, err := k.Build(t.Context(), func(int64) {}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
}

var entries = []pageindex.Entry{{Product: "p", Position: comment.Position{1}, Cell: &comment.Cell{Language: "en", Rating: 1}, Follows: "2026/2"}}

// Counting waits for a store for two seconds at most, and only once: then the gap is declared.
func TestCountingDoesNotWait(t *testing.T) {
	for why, broken := range map[string]faulty{
		"it fails":  {err: errors.New("redis://:secret@cache is away")},
		"it hangs":  {hangs: true},
		"it panics": {err: nil},
	} {
		synctest.Test(t, func(t *testing.T) {
			table, said := &memory{}, &bytes.Buffer{}
			store := &faulty{Model: conformance.NewModel()}
			k := newKeeper(table, store, said)
			mustBuild(t, k)
			store.err, store.hangs = broken.err, broken.hangs
			if why == "it panics" {
				store.Model = nil
			}
			began := time.Now()
			for range 100 {
				if err := k.Apply(t.Context(), entries); err != nil {
					t.Fatal(why, err)
				}
			}
			if took := time.Since(began); took > k.Pace.Feed+100*time.Millisecond {
				t.Errorf("%s: it took %s", why, took)
			}
			if s := table.registry.Stores["store"]; !s.Open() || s.Gaps != 2 || strings.Contains(s.Reason, "secret") {
				t.Errorf("%s: %+v", why, s)
			}
			if n := strings.Count(said.String(), "missed comments"); n != 1 {
				t.Errorf("%s: it is said %d times: %s", why, n, said)
			}
		})
	}
}

// Entries are fed again only if the gap cannot be declared, or if the process is about to end.
func TestApplyFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &memory{}
		store := &faulty{Model: conformance.NewModel()}
		k := newKeeper(table, store, &bytes.Buffer{})
		mustBuild(t, k)
		store.hangs = true
		ending, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if err := k.Apply(ending, entries); comment.KindOf(err) != comment.Timeout {
			t.Error(err)
		}
		store.hangs, store.err = false, errors.New("away")
		table.err = comment.Errorf(comment.Throttled, "slow down")
		if err := k.Apply(t.Context(), entries); comment.KindOf(err) != comment.Throttled {
			t.Error(err)
		}
	})
}

// A process without a store that counts while the table knows one makes that store incomplete, with
// one write and one log line. While the table knows none, it costs nothing.
func TestBystander(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, said := &memory{}, &bytes.Buffer{}
		k, bystander := newKeeper(table, conformance.NewModel(), &bytes.Buffer{}), newKeeper(table, nil, said)
		if err := bystander.Apply(t.Context(), entries); err != nil || table.writes > 0 {
			t.Error(table.writes, err)
		}
		mustBuild(t, k)
		before := table.writes
		for range 10 {
			if err := bystander.Apply(t.Context(), entries); err != nil {
				t.Error(err)
			}
			time.Sleep(time.Second)
		}
		if table.writes != before+1 || strings.Count(said.String(), "\n") != 1 || !table.registry.Stores["store"].Open() {
			t.Errorf("%d writes, and %s", table.writes-before, said)
		}
		if _, err := k.Find(t.Context(), pageindex.List{Product: "p"}, nil); comment.KindOf(err) != comment.Unavailable {
			t.Error(err)
		}
	})
}

// A store that belongs to another table is not fed, and stays complete for that table.
func TestAnothersStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs, said := &memory{}, &memory{}, &bytes.Buffer{}
		store := conformance.NewModel()
		k, other := newKeeper(ours, store, &bytes.Buffer{}), newKeeper(theirs, store, said)
		mustBuild(t, k)
		mustBuild(t, other)
		if !strings.Contains(said.String(), "another table") {
			t.Error(said)
		}
		time.Sleep(k.Pace.Look)
		if err := k.Apply(t.Context(), entries); err != nil || !ours.registry.Stores["store"].Open() {
			t.Error(err, ours.registry)
		}
		if _, err := k.Find(t.Context(), pageindex.List{Product: "p"}, nil); comment.KindOf(err) != comment.Unavailable {
			t.Error(err)
		}
		found, err := other.Find(t.Context(), pageindex.List{Product: "p"}, nil)
		if err != nil || found.Counts.Total() != 1 {
			t.Error(found, err)
		}
	})
}

// One process builds at a time. A builder that ended without notice is taken over.
func TestOneBuildsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, store := &memory{}, conformance.NewModel()
		ctx, end := context.WithCancel(t.Context())
		first, second := newKeeper(table, store, &bytes.Buffer{}), newKeeper(table, store, &bytes.Buffer{})
		var building sync.WaitGroup
		building.Go(func() { _, _ = first.Build(ctx, func(int64) {}) })
		time.Sleep(time.Second)
		if _, err := second.Build(t.Context(), func(int64) {}); !errors.Is(err, errBusy) || !strings.Contains(err.Error(), "a test") {
			t.Error(err)
		}
		end()
		building.Wait()
		table.registry = table.registry.with("store", Registration{Identity: "X", Gaps: 1, Work: Work{Owner: "killed", Heartbeat: 9}})
		began := time.Now()
		mustBuild(t, second)
		if took := time.Since(began); took < patience*second.Pace.Heartbeat || took > 2*patience*second.Pace.Heartbeat {
			t.Error(took)
		}
	})
}

// slow is a table that takes a minute to read.
type slow struct{ *memory }

func (s slow) All(ctx context.Context, do func(context.Context, []pageindex.Entry) error) error {
	time.Sleep(time.Minute)
	return s.memory.All(ctx, do)
}

// A process waits for the build of another, says so once, and builds nothing itself afterwards.
func TestWaitsForAnothersBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, store, said := &memory{}, conformance.NewModel(), &bytes.Buffer{}
		first, second := newKeeper(table, store, &bytes.Buffer{}), newKeeper(table, store, said)
		first.Entries = slow{table}
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { mustBuild(t, first) })
		time.Sleep(time.Millisecond)
		running.Go(func() { second.Run(ctx) })
		time.Sleep(2 * time.Minute)
		end()
		running.Wait()
		if strings.Count(said.String(), "is being built") != 1 || strings.Contains(said.String(), "complete") {
			t.Error(said)
		}
	})
}

// The messages about a store that cannot be used, most urgent first. Clients are told what to do
// meanwhile, and nothing about the store.
func TestObjection(t *testing.T) {
	now := time.Unix(1000, 0)
	complete := storeStatus{state: stream.State{Complete: true, Since: time.Unix(7, 0)}, store: Registration{Identity: "A", Gaps: 2, Begun: 2, Moments: "x y"}, covers: "A/2/7000@y"}
	for _, row := range []struct {
		why    string
		change func(*storeStatus)
		want   string
		needs  need
	}{
		{"complete", func(*storeStatus) {}, "", nothing},
		{"counted half a minute ago", func(s *storeStatus) { s.known, s.upTo = true, now.Add(-30*time.Second) }, "", nothing},
		{"late", func(s *storeStatus) { s.known, s.upTo = true, now.Add(-31*time.Second) }, lateCounts + " by 31s" + meanwhile, nothing},
		{"counted by a function", func(s *storeStatus) { s.state.Scheduled = now.Add(-stream.ScheduleLate) }, "", nothing},
		{"a function is silent", func(s *storeStatus) { s.state.Scheduled = now.Add(-24 * time.Hour) }, lateCounts + " by 24h0m0s" + meanwhile, nothing},
		{"a function was replaced", func(s *storeStatus) { s.known, s.upTo, s.state.Scheduled = true, now, now.Add(-24*time.Hour) }, "", nothing},
		{"records were lost", func(s *storeStatus) { s.state.Complete = false }, notCounted, counting},
		{"away", func(s *storeStatus) { s.away = errors.New("secret host") }, storeAway, presence},
		{"away after lost records", func(s *storeStatus) { s.away, s.state.Complete = errors.New("x"), false }, notCounted, counting},
		{"emptied", func(s *storeStatus) { s.covers = "" }, notBuilt, building},
		{"given an identity", func(s *storeStatus) { s.covers = "A/" }, notBuilt, building},
		{"about to move on", func(s *storeStatus) { s.covers = "A/2/7000@x" }, "", nothing},
		{"put back", func(s *storeStatus) { s.covers = "A/2/7000@w" }, notBuilt, building},
		{"another's", func(s *storeStatus) { s.covers = "B/2/7000@y" }, notBuilt, building},
		{"a gap", func(s *storeStatus) { s.store.Gaps++ }, notBuilt, building},
		{"counted anew", func(s *storeStatus) { s.state.Since = time.Unix(8, 0) }, notBuilt, building},
		{"not known", func(s *storeStatus) { s.store = Registration{} }, notBuilt, building},
	} {
		s := complete
		row.change(&s)
		err := s.objection(now, 30*time.Second)
		if got := comment.MessageOf(err); got != row.want || err != nil && comment.KindOf(err) != comment.Unavailable {
			t.Errorf("%s: %v, want %q", row.why, err, row.want)
		}
		if err := s.objection(now, math.MaxInt64); err != nil && strings.Contains(err.Error(), lateCounts) {
			t.Errorf("%s: %v, where counting may be late", row.why, err)
		}
		if got := s.needs(); got != row.needs {
			t.Errorf("%s: it needs %d, want %d", row.why, got, row.needs)
		}
	}
}

// Unsuccessful builds pause longer and longer. The pause is short after a long calm, and after
// builds that read little or nothing.
func TestPauses(t *testing.T) {
	const much, little = 1e6, 5000
	s := time.Second
	for _, row := range []struct {
		why  string
		read []int64 // by each build
		want []time.Duration
	}{
		{"much", slices.Repeat([]int64{much}, 11), []time.Duration{0, s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 64 * s, 128 * s, 256 * s, 512 * s, 600 * s}},
		{"little", slices.Repeat([]int64{little}, 6), []time.Duration{0, s, 2 * s, 4 * s, 5 * s, 5 * s, 5 * s}},
		{"some comments", []int64{10, 10, 10}, []time.Duration{0, s, s, s}},
		{"nothing", []int64{0, 0, 0}, []time.Duration{0, cheapPause, cheapPause, cheapPause}},
		{"nothing in between", []int64{much, much, 0, much}, []time.Duration{0, s, 2 * s, cheapPause, 4 * s}},
	} {
		var tending tending
		now := time.Unix(1000, 0)
		got := []time.Duration{tending.next(now)}
		for _, read := range row.read {
			tending.ended, tending.read = now, read
			got = append(got, tending.next(now))
		}
		check.Equal(t, row.want, got, row.why)
		if got := tending.next(now.Add(longestPause + s)); got != s {
			t.Errorf("%s: after a calm, the pause is %s", row.why, got)
		}
	}
}

// refusing is a store that refuses builds, or does not answer at all.
type refusing struct {
	*conformance.Model
	away bool
	over atomic.Bool
}

var errRefused = errors.New("the disk is full")

func (r *refusing) Covers(ctx context.Context) (string, error) {
	if r.away && !r.over.Load() {
		return "", errRefused
	}
	return r.Model.Covers(ctx)
}

func (r *refusing) Build(ctx context.Context) (pageindex.Build, error) {
	if !r.over.Load() {
		return nil, errRefused
	}
	return r.Model.Build(ctx)
}

// However long a store was away or refused builds, page numbers are back within ten seconds of its
// return, and the log has one warning.
func TestAfterALongOutage(t *testing.T) {
	for why, away := range map[string]bool{"it is away": true, "it takes no build": false} {
		synctest.Test(t, func(t *testing.T) {
			table, said, store := &memory{}, &bytes.Buffer{}, &refusing{Model: conformance.NewModel(), away: away}
			k := newKeeper(table, store, said)
			ctx, end := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { k.Run(ctx) })
			time.Sleep(time.Hour + 700*time.Millisecond)
			store.over.Store(true)
			for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
				if _, err := k.Find(ctx, pageindex.List{Product: "p"}, nil); err == nil {
					break
				} else if time.Since(began) > 10*time.Second {
					t.Errorf("%s: %s after the end: %v", why, time.Since(began), err)
					break
				}
			}
			end()
			running.Wait()
			if n := strings.Count(said.String(), "level=WARN"); n != 1 {
				t.Errorf("%s: %d warnings: %s", why, n, said)
			}
		})
	}
}

// leaving is a store whose callers leave while they wait for an answer.
type leaving struct {
	*conformance.Model
	leave func()
}

func (l *leaving) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	l.leave()
	if err := ctx.Err(); err != nil {
		return pageindex.Found{}, err
	}
	return l.Model.Find(ctx, list, targets)
}

// Callers that leave say nothing about a store: what is known of it is not read again for each.
func TestCallersThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, store := &memory{}, &leaving{conformance.NewModel(), func() {}}
		k := newKeeper(table, store, &bytes.Buffer{})
		mustBuild(t, k)
		find := func(ctx context.Context) error {
			_, err := k.Find(ctx, pageindex.List{Product: "p"}, nil)
			return err
		}
		if err := find(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := table.reads
		for range 10 {
			ctx, leave := context.WithCancel(t.Context())
			store.leave = leave
			if err := find(ctx); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			store.leave = func() {}
			if err := find(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if again := table.reads - before; again != 0 {
			t.Errorf("the registry was read %d times for callers that left", again)
		}
	})
}

// A store that has missed comments for a quarter of a year is forgotten, and no other.
func TestForgetting(t *testing.T) {
	now := time.Unix(1e9, 0)
	open, closed := Registration{Gaps: 1, Since: now.Add(-forgetAfter - 1)}, Registration{Gaps: 1, Begun: 1, Since: now.Add(-forgetAfter - 1)}
	young := Registration{Gaps: 1, Since: now.Add(-forgetAfter)}
	r := Registry{Version: 3, Stores: map[string]Registration{"open": open, "closed": closed, "young": young}}
	want := Registry{Version: 3, Stores: map[string]Registration{"closed": closed, "young": young}}
	check.Equal(t, want, r.remembered(now))
}

// Every wait is longer than the waits that it must outlast.
func TestPace(t *testing.T) {
	p := DefaultPace()
	if p.Settle <= p.Look+p.Feed || p.Lag <= p.Look+p.Feed {
		t.Errorf("%+v", p)
	}
}

// uncounted is a table whose comments are not all counted, or not yet.
type uncounted struct {
	state  stream.State
	leases []stream.Lease
}

func (u uncounted) Current(context.Context) (stream.State, []stream.Lease, error) {
	return u.state, u.leases, nil
}

// An index in the table answers unless counting is late or incomplete.
func TestTimely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		complete := stream.State{Complete: true, Since: time.Unix(7, 0)}
		scheduled := func(ago time.Duration) stream.State {
			state := complete
			state.Scheduled = time.Now().Add(-ago)
			return state
		}
		for _, row := range []struct {
			why     string
			counted uncounted
			want    string
		}{
			{"nothing is known of the stream", uncounted{state: complete}, ""},
			{"up to now", uncounted{complete, []stream.Lease{{CaughtUp: time.Now()}}}, ""},
			{"a minute late", uncounted{complete, []stream.Lease{{CaughtUp: time.Now().Add(-time.Minute)}}}, lateCounts},
			{"records were lost", uncounted{state: stream.State{}}, notCounted},
			{"an import ended, and a function counts", uncounted{scheduled(time.Minute), []stream.Lease{{CaughtUp: time.Now().Add(-time.Hour)}}}, ""},
			{"it has ended too", uncounted{scheduled(time.Hour), []stream.Lease{{CaughtUp: time.Now().Add(-2 * time.Hour)}}}, lateCounts},
		} {
			found, err := NewTimely(conformance.NewModel(), row.counted).Find(t.Context(), pageindex.List{Product: "p"}, []pageindex.Target{{Rank: 1}})
			if !strings.HasPrefix(comment.MessageOf(err), row.want) || (err == nil) != (row.want == "") || err == nil && len(found.Boundaries) != 1 {
				t.Errorf("%s: %v", row.why, err)
			}
		}
	})
}
