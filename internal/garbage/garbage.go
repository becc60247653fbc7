// Package garbage has garbage collected less often while the heap is small. A server of few live
// bytes would otherwise be collected some hundred times a second under load, which takes a fifth of
// its processor time.
package garbage

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// usual is the value of GOGC unless someone sets it: the heap may grow by as much as is live.
const usual = 100

// The metrics of what the last collection left, and of what else GOGC is a percentage of.
const (
	liveBytes   = "/gc/heap/live:bytes"
	stackBytes  = "/gc/scan/stack:bytes"
	globalBytes = "/gc/scan/globals:bytes"
)

// Allow lets the heap grow to so many bytes before it is collected. A heap that is too large for that
// is collected as usual. So it costs at most these bytes, and a large heap costs nothing more. A
// memory limit still holds. Where GOGC is set to another value than 100, that stays as it is. The
// returned function ends it.
func Allow(heap int) (end func()) {
	if set := debug.SetGCPercent(usual); set != usual {
		debug.SetGCPercent(set)
		return func() {}
	}
	p := &pace{heap: int64(heap), percent: usual}
	p.adjust()
	p.follow()
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = true
		debug.SetGCPercent(usual)
	}
}

// pace is how often garbage is collected.
type pace struct {
	heap int64 // up to which none is collected

	mu      sync.Mutex
	percent int // as it was set last
	ended   bool
}

// follow adjusts the pace after each collection: the next one finds that nothing refers to the
// sentinel.
func (p *pace) follow() {
	sentinel := new([64]byte) // too large to share its block with other objects
	runtime.AddCleanup(sentinel, func(p *pace) {
		if p.adjust() {
			p.follow()
		}
	}, p)
}

// adjust sets the pace by what is live, and reports false after the end. It leaves small
// differences, since setting it stops the program for some microseconds.
func (p *pace) adjust() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return false
	}
	left := []metrics.Sample{{Name: liveBytes}, {Name: stackBytes}, {Name: globalBytes}}
	metrics.Read(left)
	live := int64(left[0].Value.Uint64())
	percent := percentFor(p.heap-live, live+int64(left[1].Value.Uint64()+left[2].Value.Uint64()))
	if 10*percent < 9*p.percent || 9*percent > 10*p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
	return true
}

// leastScanned bounds the percentage of a small heap. Go lets every heap grow to the percentage of 4 MB.
const leastScanned = 4 << 20

// percentFor returns which percentage of what a collection scans the growth is, at least the usual
// one.
func percentFor(growth, scanned int64) int {
	return int(max(usual, growth*100/max(scanned, leastScanned)))
}
