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

// liveBytes is the metric of what the last collection left.
const liveBytes = "/gc/heap/live:bytes"

// Allow lets the heap grow by so many bytes before each collection, or by as much as is live if
// that is more. So it costs at most these bytes, however large the heap becomes. A memory limit
// still holds. Where GOGC is set to another value than 100, that stays as it is. The returned
// function ends it.
func Allow(growth int) (end func()) {
	if set := debug.SetGCPercent(usual); set != usual {
		debug.SetGCPercent(set)
		return func() {}
	}
	p := &pace{growth: uint64(growth), percent: usual}
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
	growth uint64

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
	live := []metrics.Sample{{Name: liveBytes}}
	metrics.Read(live)
	percent := percentFor(p.growth, live[0].Value.Uint64())
	if 10*percent < 9*p.percent || 9*percent > 10*p.percent {
		debug.SetGCPercent(percent)
		p.percent = percent
	}
	return true
}

// leastLive bounds the percentage of a heap that was not collected yet.
const leastLive = 1 << 20

// percentFor returns which percentage of what is live the growth is, at least the usual one.
func percentFor(growth, live uint64) int {
	return max(usual, int(growth*100/max(live, leastLive)))
}
