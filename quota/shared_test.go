package quota_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/quota"
)

// store is a store of one client, which can be away.
type store struct {
	owed  time.Duration
	fault atomic.Pointer[func(context.Context) error]
	calls atomic.Int32
}

func (s *store) Change(ctx context.Context, p quota.Policy, _ quota.Client, cost quota.Cost) (time.Duration, bool, error) {
	if err := s.Ping(ctx); err != nil {
		return 0, false, err
	}
	if !cost.Forced && s.owed+cost.Time > p.Window() {
		return s.owed, false, nil
	}
	s.owed += cost.Time
	return s.owed, true, nil
}

func (s *store) Ping(ctx context.Context) error {
	s.calls.Add(1)
	if fault := s.fault.Load(); fault != nil {
		return (*fault)(ctx)
	}
	return nil
}

func (s *store) fail(fault func(context.Context) error) { s.fault.Store(&fault) }
func (s *store) mend()                                  { s.fault.Store(nil) }

func slow(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// A store that is away, or slow, delays one request at most. Then the server grants its share, and
// asks the store again when that answers. The log has a line for each of both.
func TestStoreAway(t *testing.T) {
	for name, fault := range map[string]func(context.Context) error{
		"slow": slow,
		"away": func(context.Context) error { return errors.New("no connection") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testStoreAway(t, fault) })
		})
	}
}

func testStoreAway(t *testing.T, fault func(context.Context) error) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var log bytes.Buffer
	s := &store{}
	shared := quota.NewShared(quota.Policy{Name: "read-units", Rate: 0.001, Burst: 100}, quota.NewLink(ctx, s, "redis://cache:6379", slog.New(slog.NewTextHandler(&log, nil))), 4)
	ada := quota.Customer("ada")
	take := func(units float64) (granted int) {
		for shared.Take(ctx, ada, units).Wait == 0 {
			granted++
		}
		return granted
	}
	if got := take(10); got != 10 {
		t.Fatalf("the store granted %d bursts of 10, want 10", got)
	}
	if got, want := shared.Take(ctx, ada, 10).Wait.Round(time.Second), 10_000*time.Second; got != want {
		t.Errorf("a client that used its burst waits %v for 10 units, want %v", got, want)
	}
	if got := shared.Peek(ada, 1); got.Wait == 0 || shared.Clients() != 1 {
		t.Errorf("of what the store said, a server knows %+v of %d clients", got, shared.Clients())
	}
	s.fail(fault)
	begun := time.Now()
	var group sync.WaitGroup
	for range 10 { // they notice that the store is away
		group.Go(func() { shared.Take(ctx, quota.Customer("cy"), 1) })
	}
	group.Wait()
	if got := shared.Peek(ada, 1); got.Wait == 0 {
		t.Error("a client that the store refused is let in, because this server has not refused it yet")
	}
	if got := take(5); got != 5 {
		t.Errorf("a server of four granted %d times 5, want 5", got)
	}
	if waited := time.Since(begun); waited > 60*time.Millisecond {
		t.Errorf("requests waited %v for a store that is away", waited)
	}
	if got := shared.Peek(ada, 1); got.Wait == 0 {
		t.Error("a client that the store refused is let in while it is away")
	}
	bob := quota.Customer("bob")
	if got := shared.Peek(bob, 25); got.Wait > 0 {
		t.Errorf("a client that the store does not know waits %v while it is away", got.Wait)
	}
	shared.Take(ctx, bob, 25)
	if got := shared.Peek(bob, 1); got.Wait == 0 {
		t.Error("a client that this server refuses by itself is let in")
	}
	if got := shared.Clients(); got != 3 {
		t.Errorf("%d clients are known, want 3", got)
	}
	before := s.calls.Load()
	time.Sleep(5*time.Second + 10*time.Millisecond)
	if calls := s.calls.Load() - before; calls > 6 {
		t.Errorf("the store was tried %d times in 5 s", calls)
	}
	s.mend()
	s.owed = 0
	time.Sleep(1100 * time.Millisecond)
	if got := take(20); got != 5 {
		t.Errorf("the store granted %d times 20 after it was away, want 5", got)
	}
	shared.Take(ctx, bob, 1)
	if got := shared.Peek(bob, 1); got.Wait == 0 {
		t.Error("a client that the store refuses is let in: other servers let it use everything")
	}
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "is away") || !strings.Contains(lines[1], "answers again") {
		t.Errorf("the log has %d lines:\n%s", len(lines), log.String())
	}
}

// What was taken from the account of the server alone is settled there, and what the store took is
// not given back by another account.
func TestSettleWhereItWasTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		s := &store{}
		shared := quota.NewShared(quota.Policy{Rate: 0.001, Burst: 100}, quota.NewLink(ctx, s, "", slog.New(slog.DiscardHandler)), 1)
		ada := quota.Customer("ada")
		large := shared.Take(ctx, ada, 90)
		if left := shared.Settle(ctx, ada, large, 110); left.Units > -9.9 {
			t.Errorf("an operation that took more than was left leaves %v units, want a debt of 10", left.Units)
		}
		s.owed = 0
		atStore := shared.Take(ctx, ada, 60)
		s.fail(slow)
		apart := shared.Take(ctx, ada, 70)
		if left := shared.Settle(ctx, ada, atStore, 1); left.Units > 50 {
			t.Errorf("%v units are left at a store that is away, want 40", left.Units)
		}
		s.mend()
		time.Sleep(1100 * time.Millisecond)
		if left := shared.Settle(ctx, ada, apart, 20); left.Units < 79.9 || left.Units > 80.1 {
			t.Errorf("%v units are left of this server's, want 80", left.Units)
		}
		if got := shared.Take(ctx, ada, 41); got.Wait == 0 || got.Units > 40.1 {
			t.Errorf("the store gave back what it did not take: %+v", got)
		}
	})
}

// A client that hangs up is settled, and says nothing about the store.
func TestHangingUpIsNoFault(t *testing.T) {
	s := &store{}
	link := quota.NewLink(t.Context(), s, "", slog.New(slog.DiscardHandler))
	shared := quota.NewShared(quota.Policy{Rate: 1, Burst: 100}, link, 1)
	ctx, cancel := context.WithCancel(t.Context())
	charge := shared.Take(ctx, quota.Customer("ada"), 50)
	cancel()
	s.fail(func(ctx context.Context) error { return ctx.Err() })
	if left := shared.Settle(ctx, quota.Customer("ada"), charge, 10); left.Units < 89 || link.Away() {
		t.Errorf("%v units are left, want 90; away: %v", left.Units, link.Away())
	}
}

// The last line of the log says how the store is, also if it went away again at once.
func TestStoreAwayAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var log bytes.Buffer
		s := &store{}
		shared := quota.NewShared(quota.Policy{Rate: 1, Burst: 100}, quota.NewLink(ctx, s, "", slog.New(slog.NewTextHandler(&log, nil))), 1)
		ask := func() { shared.Take(ctx, quota.Customer("ada"), 0) }
		for range 3 {
			s.fail(slow)
			ask()
			s.mend()
			time.Sleep(1100 * time.Millisecond)
			ask()
		}
		s.fail(slow)
		ask()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		lines := strings.Split(strings.TrimSpace(log.String()), "\n")
		if len(lines) != 3 || !strings.Contains(lines[1], "answers again") || !strings.Contains(lines[2], "is away") {
			t.Errorf("the log has %d lines:\n%s", len(lines), log.String())
		}
	})
}
