package quota_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/redistest"
	"github.com/talkback/talkback/quota"
)

var policy = quota.Policy{Name: "read-units", Rate: 0.001, Burst: 100}

func open(t *testing.T, url string) *quota.Redis {
	t.Helper()
	s := must.Get(quota.OpenRedis(url, "comments"))(t)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// keyOf returns the key of a client's account.
func keyOf(c quota.Client) string { return fmt.Sprintf("talkback:quota:comments:read-units:%x", c) }

// server returns the accounts as one of several servers keeps them.
func server(t *testing.T, store quota.Store, log *slog.Logger) (*quota.Shared, *quota.Link) {
	link := quota.NewLink(t.Context(), store, "redis", log)
	return quota.NewShared(policy, link, 2), link
}

// A server whose AUTH is renamed repeats the password in its error. The log does not.
func TestPasswordIsNotRepeated(t *testing.T) {
	url := redistest.Start(t, "--rename-command", "AUTH", "", "--rename-command", "HELLO", "").URL()
	s := open(t, strings.Replace(url, "redis://", "redis://talkback:secret@", 1))
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "unknown command") || strings.Contains(err.Error(), "secret") {
		t.Errorf("the server does not know AUTH: %v; want that, without the password", err)
	}
}

// Two servers that ask at once grant a burst together, and settle into one account.
func TestServersShare(t *testing.T) {
	url := redistest.Start(t).URL()
	ada := quota.Customer("ada")
	var granted atomic.Int64
	var group sync.WaitGroup
	var last *quota.Shared
	for range 2 {
		shared, _ := server(t, patient{open(t, url)}, slog.New(slog.DiscardHandler))
		last = shared
		group.Go(func() {
			for range 60 {
				if charge := shared.Take(t.Context(), ada, 2); charge.Wait == 0 {
					shared.Settle(t.Context(), ada, charge, 1)
					granted.Add(1)
				}
			}
		})
	}
	group.Wait()
	if got := granted.Load(); got != 99 { // the last unit is not enough for another 2
		t.Errorf("%d operations of 1 unit were granted, estimated at 2, of 100", got)
	}
	if got := last.Take(t.Context(), quota.Customer("bob"), 100); got.Wait != 0 {
		t.Error("another client has no burst of its own")
	}
}

// patient is a store that does not mind a busy machine.
type patient struct{ quota.Store }

func (p patient) Change(ctx context.Context, policy quota.Policy, c quota.Client, cost quota.Cost) (time.Duration, bool, error) {
	return p.Store.Change(context.WithoutCancel(ctx), policy, c, cost)
}

// The script decides as a ledger does.
func TestScriptAgainstLedger(t *testing.T) {
	s := open(t, redistest.Start(t).URL())
	ledger, ada := quota.NewLedger(policy), quota.Customer("ada")
	for i, units := range []float64{30, 60, 20, 10, 5, 0.5, 250, -300, 40, 70, -10, 1, -1000} {
		forced := units < 0 || units == 250
		var want quota.Charge
		var left float64
		if forced {
			left = ledger.Settle(t.Context(), ada, quota.Charge{}, units).Units
		} else {
			want = ledger.Take(t.Context(), ada, units)
			left = want.Units
		}
		cost := quota.Cost{Time: time.Duration(units / policy.Rate * float64(time.Second)), Forced: forced}
		owed, changed, err := s.Change(t.Context(), policy, ada, cost)
		if err != nil || changed != (want.Wait == 0) {
			t.Fatalf("step %d, %v units: changed %v (%v), want %v", i, units, changed, err, want.Wait == 0)
		}
		if got := policy.Burst - owed.Seconds()*policy.Rate; got < left-0.1 || got > left+0.1 {
			t.Errorf("step %d, %v units: %v left, want %v", i, units, got, left)
		}
	}
}

// Accounts expire when their clients have a whole burst, and the clock of a server that is set back
// makes nobody wait longer.
func TestKeys(t *testing.T) {
	instance := redistest.Start(t)
	s := open(t, instance.URL())
	ada := quota.Customer("ada")
	change := func(cost quota.Cost) time.Duration {
		owed, _, err := s.Change(t.Context(), policy, ada, cost)
		must.Do(t, err)
		return owed
	}
	change(quota.Cost{Time: 90 * time.Second})
	if count, _ := instance.Do("DBSIZE"); count != ":1" {
		t.Errorf("there are %s keys, want 1", count)
	}
	name := keyOf(ada)
	ttl, _ := instance.Do("TTL", name)
	if left, err := strconv.Atoi(strings.TrimPrefix(ttl, ":")); err != nil || left < 1 || left > 90 {
		t.Errorf("the account expires in %s s, want 90", ttl)
	}
	instance.Must(t, "SET", name, `"1000000`, "99999999999999999\"") // owed 1 s, by a clock that was far ahead
	if owed := change(quota.Cost{}); owed != time.Second {
		t.Errorf("%v are owed, want 1s", owed)
	}
	change(quota.Cost{Time: -time.Hour, Forced: true})
	if count, _ := instance.Do("DBSIZE"); count != ":0" {
		t.Errorf("there are %s keys of a client that owes nothing", count)
	}
}

// A client that waits while the clock of a server is set back, or another takes over whose clock is
// behind, waits no longer than before.
func TestClockSetBackWhileRefused(t *testing.T) {
	instance := redistest.Start(t)
	s, ada := open(t, instance.URL()), quota.Customer("ada")
	quick := quota.Policy{Name: "read-units", Rate: 1000, Burst: 100}
	name := keyOf(ada)
	instance.Must(t, "SET", name, `"100000`, "99999999999999999\"") // owed 0.1 s, by a clock that was far ahead
	cost := quota.Cost{Time: 50 * time.Millisecond}
	if owed, changed, err := s.Change(t.Context(), quick, ada, cost); err != nil || changed || owed != 100*time.Millisecond {
		t.Fatalf("%v are owed, changed: %v, %v", owed, changed, err)
	}
	must.Wait(t, "the client is let in", func() bool {
		_, changed, err := s.Change(t.Context(), quick, ada, cost)
		return err == nil && changed
	})
}

// What something else put under the key of a client is no account, and takes the store from nobody.
func TestForeignKeys(t *testing.T) {
	instance := redistest.Start(t)
	s, ada := open(t, instance.URL()), quota.Customer("ada")
	name := keyOf(ada)
	for _, command := range [][]string{
		{"LPUSH", name, "1"}, {"SET", name, "x"}, {"SET", name, `"-1`, `1"`},
		{"SET", name, `"` + strings.Repeat("9", 400), `1"`}, {"SET", name, `"1`, strings.Repeat("9", 400) + `"`},
	} {
		instance.Must(t, "DEL", name)
		instance.Must(t, command...)
		for i, want := range []time.Duration{time.Second, 2 * time.Second} {
			owed, changed, err := s.Change(t.Context(), policy, ada, quota.Cost{Time: time.Second})
			if err != nil || !changed || owed <= 0 || owed > want {
				t.Errorf("%.60q, call %d: %v are owed, changed: %v, %v", command, i+1, owed, changed, err)
			}
		}
	}
}

// A Redis that answers, but takes no writes, is away until it does. To examine it says so as well,
// and leaves nothing.
func TestRedisTakesNoWrites(t *testing.T) {
	instance := redistest.Start(t)
	s := open(t, instance.URL())
	must.Do(t, s.Ping(t.Context()))
	if version, took, err := s.Examine(t.Context()); err != nil || took <= 0 || strings.Trim(version, ".0123456789") != "" || version == "" {
		t.Errorf("version %q, in %v: %v", version, took, err)
	}
	must.Wait(t, "what was tried is gone", func() bool { count, _ := instance.Do("DBSIZE"); return count == ":0" })
	instance.Must(t, "REPLICAOF", "127.0.0.1", "1")
	_, _, err := s.Examine(t.Context())
	if comment.KindOf(err) != comment.Unavailable || comment.KindOf(s.Ping(t.Context())) != comment.Unavailable {
		t.Errorf("a replica: %v", err)
	}
	instance.Must(t, "REPLICAOF", "NO", "ONE")
	must.Do(t, s.Ping(t.Context()))
}

// A Redis that stops, is paused or swallows connections: requests go on, and it is used again once
// it answers.
func TestRedisAway(t *testing.T) {
	instance := redistest.Start(t)
	var log bytes.Buffer
	shared, link := server(t, open(t, instance.URL()), slog.New(slog.NewTextHandler(&log, nil)))
	ada := quota.Customer("ada")
	must.Wait(t, "the store is used", func() bool { shared.Take(t.Context(), ada, 0); return !link.Away() })
	instance.Pause(t)
	waited := 0
	for range 1000 {
		begun := time.Now()
		shared.Take(t.Context(), ada, 0.01)
		if time.Since(begun) >= quota.Patience {
			waited++
		}
	}
	if waited > 40 {
		t.Errorf("%d of 1000 requests waited for a Redis that is paused", waited)
	}
	if !link.Away() {
		t.Error("a Redis that is paused counts as there")
	}
	instance.Resume(t)
	must.Wait(t, "the store is used again", func() bool { return !link.Away() })
	if count := strings.Count(log.String(), "is away"); count != 1 {
		t.Errorf("the log says %d times that it is away:\n%s", count, log.String())
	}
}

// Errors have neither the password nor the URL.
func TestErrorsHoldNoPassword(t *testing.T) {
	if _, err := quota.OpenRedis("http://user:hush@cache:6379", "comments"); comment.KindOf(err) != comment.BadInput || strings.Contains(err.Error(), "hush") {
		t.Errorf("an address that is none of Redis: %v", err)
	}
	closed := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	_ = closed.Close()
	s := open(t, "redis://user:hush@"+closed.Addr().String())
	if err := s.Ping(t.Context()); err == nil || strings.Contains(err.Error(), "hush") || strings.Contains(s.Name(), "hush") {
		t.Errorf("%s: %v", s.Name(), err)
	}
}
