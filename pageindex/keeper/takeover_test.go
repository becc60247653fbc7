package keeper

import (
	"bytes"
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

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
			if err := first.declareGap(ctx, "store", "a test", nil); err != nil {
				t.Fatal(err)
			}
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
