package keeper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// putBack is a table and a store, one of which is reset to an earlier state.
type putBack struct {
	*Keeper
	table *memory
	store *conformance.Model
	said  *bytes.Buffer
}

func (p *putBack) feed(t *testing.T) {
	t.Helper()
	must.Do(t, p.Apply(t.Context(), entries))
}

func (p *putBack) find(t *testing.T) error {
	t.Helper()
	time.Sleep(p.Pace.Look)
	_, err := p.Find(t.Context(), pageindex.List{Product: "p"}, nil)
	return err
}

// A table or a store that is reset to an earlier state no longer fits the other. The keeper reports
// it, and builds the store anew.
func TestPutBack(t *testing.T) {
	for _, row := range []struct {
		what  string
		table bool // the table is reset, else the store
		quiet bool // the store is fed once after the copy, else three times
	}{{"table", true, false}, {"store", false, false}, {"table at once", true, true}} {
		synctest.Test(t, func(t *testing.T) {
			p := &putBack{table: &memory{}, store: conformance.NewModel(), said: &bytes.Buffer{}}
			p.Keeper = newKeeper(p.table, p.store, p.said)
			mustBuild(t, p.Keeper)
			p.feed(t)
			time.Sleep(p.Pace.Look)
			covers, _ := p.store.Covers(t.Context())
			registry := Registry{p.table.registry.Version, maps.Clone(p.table.registry.Stores)}
			for range 3 {
				p.feed(t)
				if err := p.find(t); err != nil {
					t.Errorf("%s: before: %v", row.what, err)
				}
				if row.quiet {
					break
				}
			}
			if row.table {
				registry.Version += 1000 // the copy has the lower version, which this process never read
				p.table.registry = registry
			} else {
				now, _ := p.store.Covers(t.Context())
				_ = p.store.Renew(t.Context(), now, covers)
			}
			if err := p.find(t); comment.KindOf(err) != comment.Unavailable {
				t.Errorf("%s: %v", row.what, err)
			}
			if s, err := p.Status(t.Context()); err != nil || s.Complete || s.Reason != errPutBack.Message {
				t.Errorf("%s: %+v %v", row.what, s, err)
			}
			p.feed(t)
			if s := p.table.registry.Stores["store"]; !s.Open() || s.Reason != errPutBack.Message {
				t.Errorf("%s: %+v", row.what, s)
			}
			mustBuild(t, p.Keeper)
			if err := p.find(t); err != nil {
				t.Errorf("%s: after a build: %v", row.what, err)
			}
		})
	}
}

// Store and table move on together, at most once every Look, also soon after the last entry.
// Without entries they stay, and nothing is written.
func TestMovingOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, store := &memory{}, conformance.NewModel()
		k := newKeeper(table, store, &bytes.Buffer{})
		mustBuild(t, k)
		ctx, end := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer end()
		running.Go(func() { k.Run(ctx) })
		time.Sleep(time.Minute)
		synctest.Wait()
		before := table.writes
		last := ""
		for range 100 { // 10 s
			must.Do(t, k.Apply(t.Context(), entries))
			last, _ = store.Covers(t.Context())
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := table.writes - before; n < 5 || n > 7 {
			t.Errorf("%d writes in ten seconds and a minute", n)
		}
		if now, _ := store.Covers(t.Context()); now == last || !strings.HasSuffix(table.registry.Stores["store"].Moments, now[strings.Index(now, "@")+1:]) {
			t.Errorf("it covers %s, and before %s: %+v", now, last, table.registry)
		}
	})
}

// A slow or failing table does not open a gap of the store. The entries are fed all the same, or
// come again.
func TestTableInTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table, store := &memory{}, conformance.NewModel()
		k := newKeeper(table, store, &bytes.Buffer{})
		mustBuild(t, k)
		table.hangs = true
		if err := k.Apply(t.Context(), entries); err != nil || table.registry.Stores["store"].Open() {
			t.Errorf("a slow table: %v, %+v", err, table.registry)
		}
		table.hangs, table.err = false, errors.New("throttled")
		time.Sleep(k.Pace.Look)
		if err := k.Apply(t.Context(), entries); err == nil || table.registry.Stores["store"].Open() {
			t.Errorf("a table that fails: %v, %+v", err, table.registry)
		}
	})
}

// The table knows each moment that some process may still be moving the store to, however many
// there are.
func TestMomentsUnderWay(t *testing.T) {
	s := Registration{Moments: "a"}
	for _, next := range []string{"b", "c", "d"} { // each process saw the store at a
		s = s.toward("token@a", next)
	}
	if s.Moments != "a b c d" {
		t.Errorf("it knows %s while moves to b, c and d are under way", s.Moments)
	}
	if s = s.toward("token@c", "e"); s.Moments != "c d e" {
		t.Errorf("it knows %s once the store is at c", s.Moments)
	}
	for n := range 100 {
		s = s.toward("token@c", fmt.Sprint(n))
	}
	if known := strings.Fields(s.Moments); len(known) > 41 || known[0] != "c" {
		t.Errorf("it knows %d moments, the first %s, of a store that stays", len(known), known[0])
	}
}

// mortal is the table of a process that is killed while it reads. Whatever the process does
// afterwards has no effect.
type mortal struct {
	*memory
	dead atomic.Bool
}

func (m *mortal) SwapRegistry(ctx context.Context, old, next Registry) error {
	if m.dead.Load() {
		return comment.Errorf(comment.Unavailable, "it was killed")
	}
	return m.memory.SwapRegistry(ctx, old, next)
}

func (m *mortal) All(ctx context.Context, _ func(context.Context, []pageindex.Entry) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// If a process is killed while it builds a store, another has built the store 10 seconds later,
// even if it slept when the build began. It need not wait for all processes to feed the store,
// since they did so while it noticed that the first was silent.
func TestKilledBuilderIsTakenOver(t *testing.T) {
	const most = 10 * time.Second
	var worst time.Duration
	for i := range 200 {
		synctest.Test(t, func(t *testing.T) {
			table, store := &memory{}, conformance.NewModel()
			mustBuild(t, newKeeper(table, store, &bytes.Buffer{}))
			killed := &mortal{memory: table}
			first, second := newKeeper(table, store, &bytes.Buffer{}), newKeeper(table, store, &bytes.Buffer{})
			first.Table, first.Entries = killed, killed
			ctx, end := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { second.Run(ctx) })
			time.Sleep(time.Minute + time.Duration(i)*370*time.Millisecond)
			must.Do(t, first.declareGap(ctx, "store", "a test", nil))
			running.Go(func() { _, _ = first.Build(ctx, func(int64) {}) })
			time.Sleep(time.Duration(1+i*130) * time.Millisecond)
			killed.dead.Store(true)
			for since := time.Now(); ; time.Sleep(50 * time.Millisecond) {
				took := time.Since(since)
				worst = max(worst, took)
				now, err := second.Status(ctx)
				if now.Complete && err == nil {
					break
				}
				if took > most {
					t.Errorf("try %d: %s after the kill: %+v, %v", i, took, now, err)
					break
				}
			}
			end()
			running.Wait()
		})
	}
	t.Logf("at most %s", worst)
}
