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
func current() int { return metric("/gc/gogc:percent") }

func metric(name string) int {
	read := []metrics.Sample{{Name: name}}
	metrics.Read(read)
	return int(read[0].Value.Uint64())
}

func TestPercent(t *testing.T) {
	for _, row := range []struct {
		why             string
		growth, scanned int64
		want            int
	}{
		{"before the first collection, the whole heap", 64 * megabyte, 0, 1600},
		{"a small heap", 60 * megabyte, 5 * megabyte, 1200},
		{"half of the heap", 32 * megabyte, 32 * megabyte, 100},
		{"half of the heap, beside stacks", 32 * megabyte, 36 * megabyte, 100},
		{"a heap beyond what is allowed", -1 << 40, 1 << 40, 100},
	} {
		if got := percentFor(row.growth, row.scanned); got != row.want {
			t.Errorf("%s: %d instead of %d", row.why, got, row.want)
		}
	}
}

// A small heap grows to what is allowed, and not beyond.
func TestGoal(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(usual))
	defer Allow(32 * megabyte)()
	runtime.GC()
	if goal := metric("/gc/heap/goal:bytes"); goal < 28*megabyte || goal > 36*megabyte {
		t.Errorf("the next collection begins at %d MB instead of 32", goal/megabyte)
	}
}
