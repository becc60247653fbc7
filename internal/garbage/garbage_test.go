package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

const megabyte = 1 << 20

// A small heap may grow by what is allowed, a large one as usual.
func TestAllow(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	end := Allow(32 * megabyte)
	if percent := current(); percent < 2*usual {
		t.Errorf("of a small heap, GOGC is %d", percent)
	}

	large := make([]byte, 64*megabyte)
	for current() != usual {
		runtime.GC() // the pace follows a moment after each
		runtime.Gosched()
	}
	runtime.KeepAlive(large)
	end()
	runtime.GC()
	if percent := current(); percent != usual {
		t.Errorf("after its end, GOGC is %d", percent)
	}
}

// What the operator has set stays.
func TestOperatorDecides(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	defer Allow(32 * megabyte)()
	runtime.GC()
	if percent := current(); percent != 50 {
		t.Errorf("GOGC is %d instead of 50", percent)
	}
}

// current is the value of GOGC.
func current() int {
	gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(gogc)
	return int(gogc[0].Value.Uint64())
}

func TestPercent(t *testing.T) {
	for _, row := range []struct {
		why  string
		live uint64
		want int
	}{
		{"before the first collection", 0, 3200},
		{"a small heap", 4 * megabyte, 800},
		{"as much as is allowed", 32 * megabyte, 100},
		{"a large heap", 1 << 40, 100},
	} {
		if got := percentFor(32*megabyte, row.live); got != row.want {
			t.Errorf("%s: %d instead of %d", row.why, got, row.want)
		}
	}
}
