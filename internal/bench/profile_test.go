package bench

// Profiles of the programs that BenchmarkRequests compares, under the same load.

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
)

const (
	// profilesVariable names the folder that profiles are written to.
	profilesVariable = "BENCH_PROFILES"
	// rateVariable is how many bytes a program allocates between two samples of its memory profile.
	// With 1, all allocations are in it, and processor time says nothing.
	rateVariable = "BENCH_MEMPROFILERATE"
	// profiled is how many requests are in a profile: enough for some seconds of processor time.
	profiled = 100 * turn
)

// The questions to a program about profiles. The file's name follows, without the suffix that names
// the kind of profile.
const (
	askProfile  = "profile "
	askProfiled = "profiled "
)

// BenchmarkProfile writes a profile of processor time and one of allocations for each page and
// program. The package's comment explains how to read them.
func BenchmarkProfile(b *testing.B) {
	folder := os.Getenv(profilesVariable)
	if folder == "" {
		b.Skipf("%s does not name a folder", profilesVariable)
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		b.Fatal(err)
	}
	s := newShop(b)
	for _, page := range s.pages {
		b.Run(page.name, func(b *testing.B) {
			for b.Loop() {
				for _, p := range append([]*program{s.whole}, s.others...) {
					if p.countsAllocations {
						s.profile(b, p, page.requests, filepath.Join(folder, page.name+"."+p.name))
					}
				}
			}
		})
	}
}

// profile makes a program write its profiles while it answers requests.
func (s *shop) profile(b *testing.B, p *program, requests [][]byte, file string) {
	p.serve(b, requests, turn)
	p.ask(b, askProfile+file)
	used := p.serve(b, requests, profiled)
	p.ask(b, askProfiled+file)
	b.ReportMetric(cpuSeconds(used)*1e6/profiled, p.name+"-cpu-µs")
	b.ReportMetric(allocations(used)/profiled, p.name+"-allocs")
}

// profileAsAsked begins or ends a profile in a program, if the question asks for that.
func profileAsAsked(asked string) error {
	if file, begin := strings.CutPrefix(asked, askProfile); begin {
		return beginProfile(file)
	}
	if file, end := strings.CutPrefix(asked, askProfiled); end {
		pprof.StopCPUProfile()
		return writeAllocations(file + ".allocs.pprof")
	}
	return nil
}

func beginProfile(file string) error {
	if err := writeAllocations(file + ".allocs-before.pprof"); err != nil {
		return err
	}
	to, err := os.Create(file + ".cpu.pprof")
	if err != nil {
		return err
	}
	_, _ = fmt.Sscan(os.Getenv(rateVariable), &runtime.MemProfileRate) // else it stays 0
	return pprof.StartCPUProfile(to)                                   // the file stays open as long as the process runs
}

func writeAllocations(file string) error {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	defer to.Close()
	runtime.GC() // otherwise the profile would lack the latest allocations
	return pprof.Lookup("allocs").WriteTo(to, 0)
}
