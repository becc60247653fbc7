package counts

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/stream"
)

// fakeTable is a table with a journal and leases in memory.
type fakeTable struct {
	stream.Journal // what the tests do not call

	mu       sync.Mutex
	state    stream.State
	leases   []stream.Lease
	failing  error // of every read of the leases
	comments bool
	calls    []string
	rebuilds []rebuild // what the rebuilds to come do; a further one completes the statistics
}

type rebuild struct {
	result RebuildResult
	err    error
	state  *stream.State // what others have made of the state meanwhile
}

func (f *fakeTable) State(context.Context) (stream.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state, f.failing
}

func (f *fakeTable) SwapState(_ context.Context, old, new stream.State) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old.Version != f.state.Version {
		return comment.Errorf(comment.Conflict, "it has changed")
	}
	new.Version++
	f.state = new
	return nil
}

func (f *fakeTable) Current(ctx context.Context) (stream.State, []stream.Lease, error) {
	state, err := f.State(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	return state, append([]stream.Lease(nil), f.leases...), err
}

func (f *fakeTable) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeTable) HasComments(context.Context) (bool, error) { return f.comments, nil }

func (f *fakeTable) NoteLayout(context.Context) error { return nil }

func (f *fakeTable) DropExpired(context.Context) error {
	f.calls = append(f.calls, "drop expired")
	return nil
}

func (f *fakeTable) Rebuild(context.Context) (RebuildResult, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, "rebuild")
	next := rebuild{result: RebuildResult{Complete: true}, state: &stream.State{Version: 9, Complete: true}}
	if len(f.rebuilds) > 0 {
		next, f.rebuilds = f.rebuilds[0], f.rebuilds[1:]
	}
	if next.state != nil {
		f.state = *next.state
	}
	return next.result, next.err
}

// silent is a stream that is not there.
type silent struct{ stream.Source }

func (silent) Shards(context.Context) (stream.Listing, error) {
	return stream.Listing{}, stream.ErrNoStream
}

func newRunner(table *fakeTable, said *bytes.Buffer) *Runner {
	log := slog.New(slog.NewTextHandler(said, nil))
	counted := RunnerTable{table.HasComments, table.DropExpired, table.NoteLayout, table.Rebuild}
	return NewRunner(&stream.Consumer{Source: silent{}, Logger: log}, table, counted, true, log)
}

// Statistics are rebuilt when they may be wrong, and only then.
func TestRunnerCompletes(t *testing.T) {
	gap := &stream.Gap{Reason: "records were dropped"}
	conflict, broken := comment.Errorf(comment.Conflict, "another process counts"), errors.New("broken")
	complete := stream.State{Version: 2, Complete: true}
	for _, row := range []struct {
		why   string
		table *fakeTable
		calls []string
		took  time.Duration
		says  string
		err   error
	}{
		{"they are complete", &fakeTable{state: complete, comments: true}, nil, 0, "", nil},
		{"a new table without comments is marked", &fakeTable{}, nil, 0, "", nil},
		{"a new table with comments", &fakeTable{comments: true}, []string{"rebuild"}, 0, "they never were", nil},
		{"a table without comments that lost records", &fakeTable{state: stream.State{Version: 1, Gap: gap}}, []string{"rebuild"}, 0, "records were dropped", nil},
		{"another process rebuilds, to the end", &fakeTable{comments: true, rebuilds: []rebuild{{err: conflict}, {err: conflict, state: &complete}}},
			[]string{"rebuild", "rebuild"}, 2 * turnEvery, "another process counts", nil},
		{"another process rebuilds, and is killed", &fakeTable{comments: true, rebuilds: []rebuild{{err: conflict}}},
			[]string{"rebuild", "rebuild"}, turnEvery, "another process counts", nil},
		{"records were lost meanwhile", &fakeTable{comments: true, rebuilds: []rebuild{{}}}, []string{"rebuild", "rebuild"}, turnEvery, "lost meanwhile", nil},
		{"a product cannot be repaired", &fakeTable{comments: true, rebuilds: []rebuild{{result: RebuildResult{Failed: []string{"vase"}}}}},
			[]string{"rebuild"}, 0, "", errors.New(`the table refused the statistics of 1 product, "vase" among them`)},
		{"a rebuild fails", &fakeTable{comments: true, rebuilds: []rebuild{{err: broken}}}, []string{"rebuild"}, 0, "", broken},
		{"the state cannot be read", &fakeTable{failing: broken}, nil, 0, "", broken},
	} {
		synctest.Test(t, func(t *testing.T) {
			var said bytes.Buffer
			r := newRunner(row.table, &said)
			began := time.Now()
			err := r.complete(t.Context())
			check.Equal(t, row.calls, row.table.calls, row.why)
			if took := time.Since(began); took != row.took {
				t.Errorf("%s: it took %s, want %s", row.why, took, row.took)
			}
			if (err == nil) != (row.err == nil) || err != nil && err.Error() != row.err.Error() {
				t.Errorf("%s: %v, want %v", row.why, err, row.err)
			}
			if !strings.Contains(said.String(), row.says) || strings.Count(said.String(), "waits for its turn") > 1 {
				t.Errorf("%s: the log says %s", row.why, &said)
			}
			if err == nil && !row.table.state.Complete {
				t.Errorf("%s: the statistics are not complete", row.why)
			}
		})
	}
}

// A gap is closed at once. While this process reads no leases, that another one found a gap is
// noticed half a minute later.
func TestRunnerClosesGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{}
		var said bytes.Buffer
		r := newRunner(table, &said)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.keepComplete(ctx) }()
		synctest.Wait()
		lose := func() {
			table.set(func() {
				table.state.Complete, table.state.Gap = false, &stream.Gap{Reason: "lost"}
				table.state.Version++
			})
		}
		rebuilds := func() int {
			synctest.Wait()
			table.mu.Lock()
			defer table.mu.Unlock()
			return len(table.calls)
		}
		lose()
		r.Consumer.OnGap(stream.Gap{})
		r.Consumer.OnGap(stream.Gap{}) // several shards may lose records at a time
		if got := rebuilds(); got != 1 {
			t.Errorf("%d rebuilds after a gap, want 1", got)
		}
		lose()
		time.Sleep(checkEvery - time.Millisecond)
		if got := rebuilds(); got != 1 {
			t.Errorf("%d rebuilds before the state is read, want 1", got)
		}
		time.Sleep(time.Millisecond)
		if got := rebuilds(); got != 2 {
			t.Errorf("%d rebuilds after the state was read, want 2", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// calm is a stream without shards.
type calm struct {
	stream.Source
	stream.Leases
}

func (calm) Shards(context.Context) (stream.Listing, error) {
	return stream.Listing{Label: "calm"}, nil
}

func (calm) List(context.Context, string) ([]stream.Lease, error) { return nil, nil }

// A gap that another process found, and did not close, is closed as soon as the leases are read.
func TestGapOfAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{state: stream.State{Version: 9, Label: "calm", Complete: true}}
		var said bytes.Buffer
		r := newRunner(table, &said)
		r.Consumer.Source, r.Consumer.Leases, r.Consumer.Journal = calm{}, calm{}, table
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { _ = r.Consumer.Run(ctx) })
		running.Go(func() { _ = r.keepComplete(ctx) })
		time.Sleep(7 * time.Second)
		table.set(func() {
			if len(table.calls) > 0 {
				t.Errorf("without a gap: %s", table.calls)
			}
			table.state.Complete, table.state.Version = false, 10
		})
		time.Sleep(stream.DefaultHeartbeat + stream.DefaultHeartbeat/8 + sightEvery)
		table.set(func() {
			if len(table.calls) != 1 {
				t.Errorf("after a gap: %s", table.calls)
			}
		})
		cancel()
		running.Wait()
	})
}

// A task that fails is restarted ever later, up to ten minutes; one that ran for longer begins
// again. No panic ends the process, and no value of one is logged.
func TestRestartOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := newRunner(&fakeTable{}, &said)
		ctx, cancel := context.WithCancel(t.Context())
		var pauses []time.Duration
		last := time.Now()
		r.restart(ctx, "the task", func(context.Context) error {
			pauses = append(pauses, time.Since(last))
			switch len(pauses) {
			case 9:
				time.Sleep(longestRestart + time.Second)
			case 11:
				cancel()
			}
			last = time.Now()
			panic("what a customer wrote")
		})
		s := time.Second
		want := []time.Duration{0, 5 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 320 * s, 600 * s, 5 * s, 10 * s}
		check.Equal(t, want, pauses)
		if !strings.Contains(said.String(), "panic with a string") || strings.Contains(said.String(), "customer") {
			t.Errorf("the log says %s", &said)
		}
	})
}

// A task that stops since the table is busy or away is restarted soon, however long that lasts, and
// the log does not fill. An error of another kind waits as long as ever.
func TestRestartAfterTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := newRunner(&fakeTable{}, &said)
		ctx, cancel := context.WithCancel(t.Context())
		var pauses []time.Duration
		last := time.Now()
		r.restart(ctx, "the task", func(context.Context) error {
			pauses = append(pauses, time.Since(last))
			last = time.Now()
			switch {
			case len(pauses) <= 100:
				return comment.Errorf(comment.Unavailable, "the table is away")
			case len(pauses) == 103:
				cancel()
			}
			return errors.New("broken")
		})
		if longest := slices.Max(pauses[:101]); longest != firstRestart {
			t.Errorf("it waited %s for a table that was away, want %s", longest, firstRestart)
		}
		check.Equal(t, []time.Duration{2 * firstRestart, 4 * firstRestart}, pauses[101:])
		if lines := strings.Count(said.String(), "is away"); lines != 2 {
			t.Errorf("the log has %d lines of 100 such errors, want 2", lines)
		}
	})
}

// The wait for the counts ends when the stream has proved them, and not before; it outlasts what
// may pass.
func TestRunnerAwaits(t *testing.T) {
	for _, row := range []struct {
		why  string
		step func(at int, table *fakeTable) // at each second
		took time.Duration
		err  error
	}{
		{"a heartbeat that was sent after the fence came through", func(at int, table *fakeTable) {
			table.leases[0].Counter++
			table.leases[0].Proven = int64(at)
		}, 8, nil},
		{"only older heartbeats come through", func(_ int, table *fakeTable) { table.leases[0].Counter++ }, 20, context.DeadlineExceeded},
		{"all is proved, and the statistics are not complete", func(at int, table *fakeTable) {
			table.leases[0].Proven, table.state.Complete = 100, at >= 12
		}, 12, nil},
		{"the table is throttled for a while", func(at int, table *fakeTable) {
			table.leases[0].Proven, table.failing = 100, comment.Errorf(comment.Throttled, "slow down")
			if at >= 3 {
				table.failing = nil
			}
		}, 3, nil},
		{"the table fails", func(at int, table *fakeTable) {
			if at >= 4 {
				table.failing = errors.New("broken")
			}
		}, 4, errors.New("broken")},
	} {
		synctest.Test(t, func(t *testing.T) {
			table := &fakeTable{state: stream.State{Version: 1, Complete: true, Label: "l"}, leases: []stream.Lease{{Shard: "s", Counter: 7, Proven: 6}}}
			r := newRunner(table, &bytes.Buffer{})
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			began := time.Now()
			go func() {
				for at := 1; at <= 20; at++ {
					time.Sleep(time.Second)
					table.set(func() { row.step(at, table) })
				}
			}()
			err := r.await(ctx, began, func(Backlog) {})
			if took := time.Since(began).Truncate(time.Second); took != row.took*time.Second {
				t.Errorf("%s: it took %s, want %d s", row.why, took, row.took)
			}
			if (err == nil) != (row.err == nil) || err != nil && err.Error() != row.err.Error() {
				t.Errorf("%s: %v, want %v", row.why, err, row.err)
			}
			time.Sleep(20 * time.Second) // for the goroutine
		})
	}
}

// What is waited for is told every five seconds: how far counting is behind the end of the work, or
// that all comments are being counted.
func TestBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Now()
		table := &fakeTable{leases: []stream.Lease{{Shard: "s"}}}
		r := newRunner(table, &bytes.Buffer{})
		ctx, cancel := context.WithTimeout(t.Context(), 11*time.Second)
		defer cancel()
		var told []Backlog
		_ = r.await(ctx, end, func(b Backlog) { // until the context ends
			told = append(told, b)
			table.set(func() { table.leases[0].CaughtUp = end.Add(-3 * time.Second) })
		})
		// A time that is not before the end of the work says nothing of how much is left.
		check.Equal(t, []Backlog{{Rebuilding: true}, {Behind: 3 * time.Second}}, told)
	})
	end := time.Unix(1000, 0)
	for _, row := range []struct {
		leases []stream.Lease
		want   Backlog
	}{
		{nil, Backlog{Rebuilding: true}},
		{[]stream.Lease{{CaughtUp: end.Add(-time.Minute)}, {}}, Backlog{Rebuilding: true}},
		{[]stream.Lease{{CaughtUp: end}}, Backlog{Rebuilding: true}},
		{[]stream.Lease{{CaughtUp: end.Add(-time.Minute)}, {CaughtUp: end.Add(-time.Second)}}, Backlog{Behind: time.Minute}},
	} {
		if got := backlogOf(row.leases, end); got != row.want {
			t.Errorf("%+v: %+v, want %+v", row.leases, got, row.want)
		}
	}
}

// While someone waits for the counts, the stream is read often; afterwards as before. The error of
// the work ends the wait.
func TestRunnerUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &fakeTable{state: stream.State{Version: 1, Complete: true}, leases: []stream.Lease{{Shard: "s", Proven: 1}}}
		r := newRunner(table, &bytes.Buffer{})
		waited, err := r.Until(t.Context(), func(context.Context) error {
			if r.Consumer.Heartbeat != waitingHeartbeat || r.Consumer.Poll != waitingPoll {
				t.Errorf("the stream is read every %s, with a heartbeat every %s", r.Consumer.Poll, r.Consumer.Heartbeat)
			}
			time.Sleep(time.Hour)
			return nil
		}, func(Backlog) {})
		if waited != waitingHeartbeat || err != nil {
			t.Errorf("it waited for %s, %v", waited, err)
		}
		if r.Consumer.Heartbeat != 0 || r.Consumer.Poll != localPoll {
			t.Errorf("afterwards the stream is read every %s, with a heartbeat every %s", r.Consumer.Poll, r.Consumer.Heartbeat)
		}
		broken := errors.New("broken")
		if waited, err := r.Until(t.Context(), func(context.Context) error { return broken }, nil); waited != 0 || !errors.Is(err, broken) {
			t.Errorf("%s, %v", waited, err)
		}
	})
}

// Counting that fails does not affect the work beside it, and ends with it.
func TestBesideFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		r := newRunner(&fakeTable{failing: errors.New("broken")}, &said)
		r.Prepare(t.Context())
		done := errors.New("done")
		err := r.Beside(t.Context(), func(context.Context) error {
			time.Sleep(time.Minute)
			return done
		})
		if !errors.Is(err, done) {
			t.Error(err)
		}
		for _, want := range []string{"it is not known whether all comments are counted", "reading the stream stopped", "counting all comments stopped", "watching the lag stopped"} {
			if !strings.Contains(said.String(), want) {
				t.Errorf("the log does not say %q:\n%s", want, &said)
			}
		}
	})
}

// A table without comments is marked before the first is written, and is to drop what expires.
func TestRunnerPrepares(t *testing.T) {
	table := &fakeTable{}
	newRunner(table, &bytes.Buffer{}).Prepare(t.Context())
	if diff := cmp.Diff([]string{"drop expired"}, table.calls); diff != "" || !table.state.Complete {
		t.Errorf("%+v %s", table.state, diff)
	}
}
