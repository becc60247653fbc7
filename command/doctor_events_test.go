package command

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/stream"
)

// Each state of a hook is a finding that names the cure.
func TestHookFindings(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for _, row := range []struct {
		why     string
		change  func(*webhooks.State)
		refused error
		dead    bool
		found   string
		cure    string
	}{
		{why: "all is well", found: "has 7 events delivered"},
		{"paused", func(s *webhooks.State) { s.Hook.Paused, s.Progress.Who = true, "" }, nil, false, "is paused, and 20m0s behind", "hooks resume k3"},
		{"nobody delivers", func(s *webhooks.State) { s.Progress.Who = "" }, nil, false, "by no process", "with SHOP_HOOK in"},
		{"nothing has changed since it was added", func(s *webhooks.State) { s.Progress.Who, s.Oldest = "", time.Time{} }, nil, false, "no event waits", "nothing if"},
		{"it fails", func(s *webhooks.State) {
			s.Progress.Lanes[2].Attempts, s.Progress.Lanes[2].LastError = 3, "it answers 410 Gone"
		}, nil, false, "410 Gone", "hooks test k3"},
		{"it is slow", func(*webhooks.State) {}, nil, false, "is 20m0s behind", "answer first"},
		{"dead letters", nil, nil, true, "refused events", "hooks redeliver k3"},
		{"no secret here", nil, errors.New("the environment variable SHOP_HOOK is not set in this process: set it"), false, "SHOP_HOOK is not set in this process", "set it for the server"},
		{"what is no secret", nil, errors.New("the environment variable SHOP_HOOK holds no secret: it must be whsec_ and more"), false, "SHOP_HOOK holds no secret", "it must be whsec_"},
	} {
		state := webhooks.State{Hook: webhooks.Hook{ID: "k3", SecretEnv: "SHOP_HOOK"}, Progress: webhooks.Progress{Who: "talkback serve"}}
		state.Progress.Lanes[0].Delivered = 7
		if row.change != nil {
			state.Oldest = now.Add(-20 * time.Minute)
			row.change(&state)
		}
		all := hookFindings(state, row.refused, row.dead, now)
		if len(all) != 1 || all[0].Check != "hook k3" || !strings.Contains(all[0].Found, row.found) || !strings.Contains(all[0].Cure, row.cure) || (all[0].Result == resultOK) != (row.cure == "") {
			t.Errorf("%s: %+v, want %q and %q", row.why, all, row.found, row.cure)
		}
	}
}

// Events are written by a process that reads a shard, or by a function of AWS Lambda.
func TestWhoWritesEvents(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for why, row := range map[string]struct {
		status status
		want   checkResult
	}{
		"nobody":                  {status{now: now, leases: []stream.Lease{{}}}, resultProblem},
		"a process":               {status{now: now, leases: []stream.Lease{{}, {Owner: "a"}}}, resultOK},
		"a function":              {status{now: now, state: stream.State{Scheduled: now.Add(-time.Minute)}}, resultOK},
		"a function that is gone": {status{now: now, state: stream.State{Scheduled: now.Add(-time.Hour)}}, resultProblem},
	} {
		if got := row.status.ofEvents(); got.Result != row.want {
			t.Errorf("%s: %+v, want %s", why, got, row.want)
		}
	}
}

// Subscribers get connections beside those of others. Without enough file descriptors, the server
// does not start.
func TestSubscribersKeepNobodyOut(t *testing.T) {
	t.Parallel()
	if n, err := (&SubscriptionFlags{Max: 20}).connections(10); n != 30 || err != nil {
		t.Errorf("%d connections, %v", n, err)
	}
	if _, err := (&SubscriptionFlags{Max: math.MaxUint32}).connections(10); err == nil || !strings.Contains(err.Error(), "ulimit -n") {
		t.Errorf("more than the file descriptors allow: %v", err)
	}
	if n, err := (&SubscriptionFlags{}).connections(math.MaxUint32); n <= 0 || err != nil {
		t.Errorf("without subscriptions: %d connections, %v", n, err)
	}
}
