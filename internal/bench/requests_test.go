package bench

import (
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

const (
	// turn is the number of requests that a program answers before the next program has its turn,
	// and turns is the number of turns that a figure is computed from.
	turn, turns = 20 * crowd, 5
	// inFlight is how many requests wait for the table while memory is measured: fewer than the
	// connections that the SDK for JavaScript keeps by itself.
	inFlight = 48
)

// BenchmarkRequests compares programs that answer 16 connections; the package's comment explains
// the output.
func BenchmarkRequests(b *testing.B) {
	s := newShop(b)
	s.checkAnswers(b)
	for _, page := range s.pages {
		b.Run(page.name, func(b *testing.B) {
			b.Run("different", func(b *testing.B) { s.compare(b, page.name, page.requests) })
			b.Run("equal", func(b *testing.B) { s.compare(b, page.name, page.requests[:1]) })
		})
	}
	b.Run("in-flight", s.compareMemory)
}

// compare lets the programs answer requests in turns, and reports the cost per request of each.
func (s *shop) compare(b *testing.B, page string, requests [][]byte) {
	all := append([]*program{s.whole}, s.others...)
	if page == "newest-20" {
		all = append(all, s.floor)
	}
	used := make([]readings, len(all))
	for _, p := range all {
		p.serve(b, requests, turn) // to warm up its connections, pools and compiled code
	}
	calls, answered := s.own.calls.Load(), 0
	var ofWhole int64
	for b.Loop() {
		for range turns {
			for i, p := range all {
				used[i] = append(used[i], p.serve(b, requests, turn))
				if i == 0 {
					ofWhole += s.own.calls.Load() - calls
					answered += turn
				}
				calls = s.own.calls.Load()
			}
		}
	}
	b.ReportMetric(0, "ns/op") // of all programs together, so it means nothing
	b.ReportMetric(float64(ofWhole)/float64(answered), "calls")
	whole := used[0].median(cpuSeconds)
	for i, p := range all {
		b.ReportMetric(used[i].median(cpuSeconds)*1e6/turn, p.name+"-cpu-µs")
		if p.countsAllocations {
			b.ReportMetric(used[i].median(allocations)/turn, p.name+"-allocs")
		}
		if i > 0 {
			b.ReportMetric(whole/used[i].median(cpuSeconds), "x-"+p.name)
		}
	}
}

// checkAnswers checks that all programs answer each page as the whole server does.
func (s *shop) checkAnswers(tb testing.TB) {
	tb.Helper()
	whole := s.whole.connect(tb)
	for _, p := range s.others {
		to := p.connect(tb)
		for _, page := range s.pages {
			for _, request := range page.requests[:3] {
				if diff := cmp.Diff(comparable(tb, whole.send(tb, request)), comparable(tb, to.send(tb, request))); diff != "" {
					tb.Fatalf("%s: the whole server (-) and %s (+) answer differently:\n%s", page.name, p.name, diff)
				}
			}
		}
	}
}

// comparable returns an answer without data that only one program sends, and with times in one
// form.
func comparable(tb testing.TB, raw []byte) any {
	tb.Helper()
	var answer struct{ Data any }
	if err := json.Unmarshal(raw, &answer); err != nil {
		tb.Fatal(err)
	}
	return withTimes(answer.Data)
}

func withTimes(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = withTimes(member)
		}
	case []any:
		for i, element := range v {
			v[i] = withTimes(element)
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.UTC()
		}
	}
	return value
}

// compareMemory reports how much more memory a program takes for each request that waits for the
// table, its connection included.
func (s *shop) compareMemory(b *testing.B) {
	requests := make([][]byte, inFlight)
	for i := range requests { // of different products, so that they share no reads
		variables := map[string]any{"product": "other-" + strconv.Itoa(i), "first": pageSize}
		requests[i] = newCase("", pageOperation, variables).body
	}
	for b.Loop() {
		for _, p := range append([]*program{s.whole}, s.others...) {
			if p.name != "bare" { // it has no recorded reads for these
				b.ReportMetric(s.memoryOf(b, p, requests), p.name+"-bytes")
			}
		}
	}
	b.ReportMetric(0, "ns/op")
}

// memoryOf returns how much more memory a program takes per request while these requests wait.
func (s *shop) memoryOf(tb testing.TB, p *program, requests [][]byte) float64 {
	tb.Helper()
	p.serve(tb, requests, len(requests)) // so that the answers are recorded and pools are filled
	before := p.ask(tb, askMemory).MemoryBytes
	closed := &gate{open: make(chan struct{})}
	s.own.gate.Store(closed)
	s.plain.gate.Store(closed)
	var answered sync.WaitGroup
	for _, request := range requests {
		conn := p.connect(tb)
		answered.Go(func() {
			if err := conn.begin(request); err != nil {
				tb.Error(err)
			}
			if _, err := conn.end(); err != nil {
				tb.Error(err)
			}
		})
	}
	must.Wait(tb, "all requests wait", func() bool { return closed.waiting.Load() == int64(len(requests)) })
	after := p.ask(tb, askMemory).MemoryBytes
	s.own.gate.Store(nil)
	s.plain.gate.Store(nil)
	close(closed.open)
	answered.Wait()
	return (float64(after) - float64(before)) / float64(len(requests))
}
