package httpapi

import (
	"context"
	"net/http"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/quota"
)

// A client that retries too early is not charged for it, nor for the reads of a refused write, nor
// for a write by GET, which is always refused. It can retry successfully at the time it was told.
func TestRefusalsAreFree(t *testing.T) {
	limits := &ClientLimits{
		Reads:  quota.NewLedger(quota.Policy{Name: "read-units", Rate: 0.001, Burst: 100.5}),
		Writes: quota.NewLedger(quota.Policy{Name: "writes", Rate: 0.001, Burst: 1}),
	}
	ada := quota.Customer("ada")
	run := func(method string, units float64, writes int) error {
		v := limits.limit(ada, method)
		ctx := &request{Context: t.Context(), limited: v}
		defer func() { v.settle(ctx, units) }()
		if err := chargeClient(ctx, units, writes); err != nil {
			return err
		}
		return nil
	}
	must.Do(t, run(http.MethodGet, 0, 1))
	must.Do(t, run(http.MethodPost, 60, 1))
	for range 100 {
		if run(http.MethodPost, 50, 0) == nil || run(http.MethodPost, 10, 1) == nil {
			t.Fatal("it is granted more than there is")
		}
	}
	if err := run(http.MethodPost, 40, 0); err != nil {
		t.Errorf("what is left was spent on refusals: %v", err)
	}
}

// A client's balance after an operation, and whether its next request is admitted.
func TestSettle(t *testing.T) {
	for _, row := range []struct {
		why             string
		estimated, used float64
		cutOff          bool
		left            float64
		letIn           bool
	}{
		{"less is used than estimated", 20, 3, false, 97, true},
		{"nothing is read, such as from a cache", 20, 0, false, 99.5, true},
		{"nothing is estimated either", 0, 0, false, 99.5, true},
		{"more is used than estimated", 20, 60, false, 40, true},
		{"far more is used: the client is in debt", 20, 180, false, -80, false},
		{"a request that was cut off pays its estimate: calls under way may cost as much", 20, 3, true, 80, true},
		{"or what it used, if that is more", 20, 50, true, 50, true},
		{"more is estimated than a client may ever have", 150, 10, false, 90, true},
		{"which it then pays, if it hangs up", 150, 10, true, -50, false},
	} {
		limits := &ClientLimits{Reads: quota.NewLedger(quota.Policy{Name: "read-units", Rate: 0.1, Burst: 100})}
		client := quota.Customer("ada")
		v := limits.limit(client, http.MethodPost)
		ctx, cancel := context.WithCancel(t.Context())
		if refused := v.charge(ctx, row.estimated, 0); refused != nil {
			t.Fatalf("%s: %s", row.why, refused.message)
		}
		if row.cutOff {
			cancel()
		}
		v.settle(ctx, row.used)
		cancel()
		if got := v.reads.left.Units; got < row.left-1 || got > row.left+1 {
			t.Errorf("%s: %v units are left, want %v", row.why, got, row.left)
		}
		if refused := limits.limit(client, http.MethodPost).enter(); (refused == nil) != row.letIn {
			t.Errorf("%s: it is let in: %v", row.why, refused == nil)
		}
	}
}

// A refused operation tells the time after which it may succeed in both headers, even if the next
// whole unit takes longer.
func TestRefusalTellsOneTime(t *testing.T) {
	limits := &ClientLimits{Reads: quota.NewLedger(quota.Policy{Name: "read-units", Rate: 0.01, Burst: 1})}
	ask := func(units float64) (*refusal, string) {
		v := limits.limit(quota.Customer("ada"), http.MethodPost)
		if refused := v.enter(); refused != nil {
			t.Fatal(refused.message)
		}
		ctx := &request{Context: t.Context(), limited: v}
		_ = chargeClient(ctx, units, 0)
		v.settle(ctx, units)
		header := http.Header{}
		v.report(header)
		return v.refused, header.Get("RateLimit")
	}
	if refused, told := ask(0.5); refused != nil {
		t.Fatalf("%s, %s", refused.message, told)
	}
	if refused, told := ask(0.7); refused == nil || refused.value != "20" || told != `"read-units";r=0;t=20` {
		t.Errorf("it is told %v and %s, want 20 seconds", refused, told)
	}
}
