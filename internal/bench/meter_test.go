package bench

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// usage is what a process has used, in all or for an action. Programs report theirs as JSON.
type usage struct {
	time            time.Duration
	CPUMicroseconds int64  `json:"cpuMicroseconds"`
	Allocations     uint64 `json:"allocations"`
	// MemoryBytes are the heap's, after a collection, and the stacks'. They are 0 unless asked for.
	MemoryBytes uint64 `json:"memoryBytes"`
}

func used() (usage, error) {
	var process syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &process); err != nil {
		return usage{}, err
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return usage{
		time:            time.Since(began),
		CPUMicroseconds: (process.Utime.Nano() + process.Stime.Nano()) / 1000,
		Allocations:     memory.Mallocs,
	}, nil
}

// began is any moment before the first measurement.
var began = time.Now()

func measure(tb testing.TB, calls int, f func()) usage {
	before := must.Get(used())(tb)
	for range calls {
		f()
	}
	return must.Get(used())(tb).since(before)
}

func (u usage) since(before usage) usage {
	return usage{time: u.time - before.time, CPUMicroseconds: u.CPUMicroseconds - before.CPUMicroseconds, Allocations: u.Allocations - before.Allocations}
}

// readings are the usages of batches of the same size.
type readings []usage

// median returns the median of f over the readings. Other work of the machine disturbs few of them.
func (r readings) median(f func(usage) float64) float64 {
	values := make([]float64, len(r))
	for i, reading := range r {
		values[i] = f(reading)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func seconds(u usage) float64     { return u.time.Seconds() }
func cpuSeconds(u usage) float64  { return float64(u.CPUMicroseconds) / 1e6 }
func allocations(u usage) float64 { return float64(u.Allocations) }
