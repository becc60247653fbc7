package call

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The longest answer that a table gives is decoded, in the memory that bounded counts with.
func TestLargeAnswers(t *testing.T) {
	text := strings.Repeat(`Es wär \"gut\" \u00e9\n`, 180)
	items := make([]string, 250)
	for i := range items {
		items[i] = fmt.Sprintf(`{"PK":{"S":"%d"},"text":{"S":"%s"},"b":{"B":"%s"}}`, i, text, strings.Repeat("AAAA", 100))
	}
	body := []byte(answerOf("Query", items...))
	var model outcome
	for i, way := range ways {
		got := decoded(t, way, "Query", body)
		if i == 0 {
			model = got
		}
		if diff := cmp.Diff(model, got, comparing...); diff != "" || len(got.Items) != len(items) {
			t.Errorf("%s: %d items differ from the SDK's:\n%s", way.name, len(got.Items), diff)
		}
		taken := allocated(func() { decoded(t, way, "Query", body) }) / float64(len(body))
		t.Logf("%s: allocates %.1f times the %d bytes of an answer", way.name, taken, len(body))
		if i > 0 && taken > 6 { // what the SDK takes is not ours, and more under the race detector
			t.Errorf("%s: allocates %.1f times the bytes of an answer", way.name, taken)
		}
	}
}

// allocated is how many bytes a call of f allocates: the least of several, since others may
// allocate meanwhile.
func allocated(f func()) float64 {
	var before, after runtime.MemStats
	least := uint64(1) << 62
	for range 5 {
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return float64(least)
}
