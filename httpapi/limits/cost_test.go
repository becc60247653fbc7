package limits_test

import (
	"encoding/json"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/httpapi/limits"
)

// A cost is written as encoding/json writes it.
func TestCostAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.OneOf(rapid.Float64Range(0.01, 1e9), rapid.Map(rapid.IntRange(0, 1000), func(n int) float64 { return float64(n) / 2 }))
		cost := limits.Cost{
			EstimatedReadUnits: rapid.Int().Draw(t, "estimated"), Limit: rapid.Int().Draw(t, "limit"),
			ReadUnits: units.Draw(t, "units"), UsedReadUnits: units.Draw(t, "used"),
			Remaining: rapid.Ptr(rapid.IntRange(0, 1000), true).Draw(t, "remaining"),
		}
		if rapid.Bool().Draw(t, "resets") {
			cost.ResetAt = time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 0).UTC().Format(time.RFC3339)
		}
		want, err := json.Marshal(cost)
		if got := cost.AppendJSON(nil); err != nil || string(got) != string(want) {
			t.Fatalf("%s, not %s, %v", got, want, err)
		}
	})
}
