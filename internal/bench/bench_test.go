package bench

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// batch is how many requests one handler answers before the other's turn. It is large enough that
// its garbage is collected within its own time. Fifty small answers do not start a collection, and
// the other handler would pay for it. It is small enough that both handlers run under the same load
// of the machine.
const batch = 200

// The comparison is fair: both handlers give the same answers, and make the same calls for them.
func TestSameAnswersFromSameCalls(t *testing.T) {
	c := newContest(t)
	for _, bc := range c.cases {
		var bare []byte
		settle := c.settled
		if bc.page {
			settle = c.learn // what the server learns from other pages may change a limit by one
		}
		whole, wholeCalls := settle(t, bc)
		bareCalls := c.bareTape.during(func() { bare = bytes.Clone(ask(t, c.bare, bc.body)) })
		for tries := 0; len(wholeCalls) > len(bareCalls) && tries < 20; tries++ {
			whole, wholeCalls = settle(t, bc) // a busy machine may not give a batch the millisecond it waits for keys
		}
		if diff := cmp.Diff(wholeCalls, bareCalls, cmp.AllowUnexported(tapedCall{})); diff != "" {
			t.Errorf("%s: the whole server (-) and the bare handler (+) make other calls:\n%s", bc.name, diff)
		}
		if diff := cmp.Diff(decoded(t, whole), decoded(t, bare)); diff != "" {
			t.Errorf("%s: the whole server (-) and the bare handler (+) answer differently:\n%s", bc.name, diff)
		}
		if !bc.page {
			continue
		}
		if shown := bytes.Count(whole, []byte(`"rating":`)); shown != pageSize {
			t.Errorf("%s: the page shows %d comments, not %d", bc.name, shown, pageSize)
		}
		if diff := cmp.Diff(decoded(t, whole), decoded(t, ask(t, c.published, bc.body))); diff != "" {
			t.Errorf("%s: the whole server (-) and the published way (+) answer differently:\n%s", bc.name, diff)
		}
	}
}

// decoded returns an answer without the whole server's report of its cost, which the bare one
// lacks.
func decoded(t *testing.T, raw []byte) (value map[string]any) {
	t.Helper()
	must.Do(t, json.Unmarshal(raw, &value))
	delete(value, "extensions")
	return value
}

// BenchmarkFilter compares pages of four ratings with pages of all, both of the whole server. x-cpu
// is the ratio of their costs, 1 / x-cpu that of their throughputs; whole-cpu-µs and all-cpu-µs are
// the costs.
func BenchmarkFilter(b *testing.B) {
	c := newContest(b)
	for _, filtered := range fourRatings() {
		_, calls := c.settled(b, filtered)
		b.Run(filtered.name, func(b *testing.B) {
			sideBySide(b, "all", asking(b, c.whole, filtered), asking(b, c.whole, c.cases[0]))
			b.ReportMetric(float64(len(calls)), "calls")
		})
	}
}

// asking is one request, repeated.
func asking(b *testing.B, handler http.Handler, bc benchCase) func() {
	return func() { ask(b, handler, bc.body) }
}

// sideBySide runs two in turns, a batch each, and compares the medians of their batches.
func sideBySide(b *testing.B, otherName string, whole, other func()) {
	var ours, theirs readings
	for b.Loop() {
		ours = append(ours, measure(b, batch, whole))
		theirs = append(theirs, measure(b, batch, other))
	}
	b.ReportMetric(0, "ns/op") // of two batches, so it means nothing
	b.ReportMetric(ours.median(cpuSeconds)/theirs.median(cpuSeconds), "x-cpu")
	b.ReportMetric(ours.median(seconds)/theirs.median(seconds), "x-time")
	b.ReportMetric(ours.median(allocations)/theirs.median(allocations), "x-allocs")
	b.ReportMetric(ours.median(cpuSeconds)*1e6/batch, "whole-cpu-µs")
	b.ReportMetric(theirs.median(cpuSeconds)*1e6/batch, otherName+"-cpu-µs")
}
