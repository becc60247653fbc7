package counts

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// slowMerger takes a time for a merge, a second if it is zero.
type slowMerger struct {
	takes             time.Duration
	err               error
	mu                sync.Mutex
	merges, now, most int
}

func (s *slowMerger) Merge(ctx context.Context, _ string) error {
	s.note(1)
	defer s.note(-1)
	return cmp.Or(task.Wait(ctx, cmp.Or(s.takes, time.Second)), s.err)
}

func (s *slowMerger) note(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now += more; more > 0 {
		s.merges++
	}
	s.most = max(s.most, s.now)
}

// Merges run beside the counting, one for a product and two in all. Counting waits only if merges
// of one product fell due twice while one was running.
func TestMergesRunBeside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowMerger{}
		m := newMerging(s, slog.New(slog.DiscardHandler))
		began := time.Now()
		waited := func(want time.Duration, why string) {
			t.Helper()
			if took := time.Since(began); took != want {
				t.Errorf("%s: waited %v, want %v", why, took, want)
			}
		}
		for _, product := range []string{"a", "a", "b", "c"} {
			m.due(t.Context(), product)
			synctest.Wait()
		}
		waited(0, "merges just began")
		m.due(t.Context(), "a")
		waited(time.Second, "the second is due while the first is under way")
		m.await(t.Context())
		if s.merges != 4 || s.most != 2 {
			t.Errorf("%d merges, %d at once; want two of a, one of b and of c, and 2 at once", s.merges, s.most)
		}
	})
}

// Counting stops waiting for a merge that takes too long.
func TestCountingOutlastsMerges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMerging(&slowMerger{takes: time.Hour}, slog.New(slog.DiscardHandler))
		began := time.Now()
		for range 1 + mergesBehind {
			m.due(t.Context(), "a")
		}
		if took := time.Since(began); took != longestWait {
			t.Errorf("waited %v", took)
		}
		m.await(t.Context())
		if took := time.Since(began); took != 2*mergeTimeout {
			t.Errorf("merges ended after %v", took)
		}
	})
}

// A merge that fails or panics is logged, and the next one runs.
func TestMergesMayFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s := &slowMerger{err: errors.New("out of paper")}
		m := newMerging(s, slog.New(slog.NewTextHandler(&log, nil)))
		for range 2 {
			m.due(t.Context(), "espresso")
			m.await(t.Context())
		}
		if s.merges != 2 || strings.Count(log.String(), `product=espresso error="out of paper"`) != 2 {
			t.Errorf("%d merges: %s", s.merges, log.String())
		}
	})
}

// A merge is due after a transaction that succeeded, or that may have. It is not due after one that
// failed for certain.
func TestMergeAfterAnUnknownOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, err := range map[int]error{0: errWaits, 1: nil, 2: context.DeadlineExceeded} {
			s := &slowMerger{}
			p := &pages{merging: newMerging(s, slog.New(slog.DiscardHandler))}
			p.startMerges(t.Context(), tally{product: "a", mergeDue: true}, err)
			p.merging.await(t.Context())
			if s.merges != min(want, 1) {
				t.Errorf("after %v: %d merges", err, s.merges)
			}
		}
	})
}
