package httpapi

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// LoadClass groups similar requests. Durations are compared within a class only.
type LoadClass int

// UnmeasuredLoad is the class of requests that say nothing about the server: they failed, were
// cancelled, or did no work worth measuring.
const UnmeasuredLoad LoadClass = 0

const (
	// readClasses include UnmeasuredLoad. Classes of writes come after them.
	readClasses, writeClasses = 12, 4
	loadClasses               = readClasses + writeClasses
)

// loadClassOf returns the class of requests by their approximate read units: those of 1 are one
// class, 2 to 3 the next, 4 to 7 the next. Requests that write comments are classed by their number
// of writes, in the same steps, as a write takes much longer than its reads.
func loadClassOf(units float64, writes int) LoadClass {
	switch {
	case writes > 0:
		return LoadClass(readClasses + min(bits.Len(uint(writes)), writeClasses) - 1)
	case units <= 0:
		return UnmeasuredLoad
	}
	return LoadClass(min(1+bits.Len(uint(units)), readClasses-1))
}

// How the limit moves.
const (
	// perProcessor is the default minimum of the limit for each processor. The limit begins at three
	// times that.
	perProcessor = 6
	// tolerance is how much longer than usual requests may take while the limit is not in use.
	tolerance = 2
	// steepest is the smallest factor by which one window may lower the limit.
	steepest = 0.5
	// A window lasts until it has windowSize requests and windowTime has passed. A quiet one lasts
	// until it has quietSize requests and quietSpan has passed.
	windowSize, windowTime = 20, 100 * time.Millisecond
	quietSize, quietSpan   = 5, time.Second
	// windowMost is the most durations that a window keeps.
	windowMost = 1000
)

// How usual durations are learned.
const (
	// A probe lasts until probeSize of its requests are done, or for probeTime.
	probeSize, probeTime = 8, 80 * time.Millisecond
	// probePause is how long the next probe waits while requests are refused.
	probePause = 3 * time.Second
	// upRate and downRate are how much one request changes the usual duration. The first requests of a
	// probe still share the processors with earlier ones, so a quick request says more than a slow
	// one.
	upRate, downRate = 0.1, 0.3
	// quicker is the ratio to the usual duration below which the latter must be wrong.
	quicker = 0.7
)

// gradient computes the limit. It is Envoy's gradient controller with some changes, which
// docs/design/overload.md explains. It has no timer of its own: the limiter reports each event to
// it.
type gradient struct {
	least, most, alone int
	limit              float64
	usual              [loadClasses]float64 // seconds that requests take when few are in flight, 0 unknown

	// The window: requests that were admitted since the limit last changed.
	window int
	since  time.Time
	ratios []float64 // durations of its requests, as multiples of the usual ones
	peak   int       // most requests in flight in it

	probing bool
	probed  time.Time // when the last probe began
	probes  int       // requests of this probe that are done
	refused bool      // whether a request was refused since
}

// visit is what the gradient remembers of a request in progress.
type visit struct {
	window      int
	probe, lone bool
}

// visit notes that a request begins. inFlight counts the requests in flight, including it.
func (g *gradient) visit(inFlight int) visit {
	g.peak = max(g.peak, inFlight)
	return visit{window: g.window, probe: g.probing, lone: inFlight <= g.alone}
}

// tick begins and ends probes. A probe admits few requests, so that they take as long as usual.
// Probes are needed only while requests are refused: otherwise few requests are in flight at times,
// or nothing is lost.
func (g *gradient) tick(now time.Time) {
	switch since := now.Sub(g.probed); {
	case g.probing && (g.probes >= probeSize || since >= probeTime):
		g.probing = false
		g.begin(now)
	case !g.probing && g.refused && since >= probePause && g.least < g.most:
		g.probing, g.probed, g.probes, g.refused = true, now, 0, false
	}
}

// refuse notes that a request is refused. During a probe that is no reason for another probe.
func (g *gradient) refuse() { g.refused = g.refused || !g.probing }

// begin begins a window.
func (g *gradient) begin(now time.Time) {
	g.window++
	g.since, g.ratios, g.peak = now, g.ratios[:0], 0
}

// finished notes how long a request took.
func (g *gradient) finished(now time.Time, v visit, class LoadClass, took time.Duration) {
	if v.probe && g.probing {
		g.probes++
	}
	if class != UnmeasuredLoad {
		seconds, usual := max(took, time.Microsecond).Seconds(), g.usual[class]
		if v.window == g.window && !g.probing && usual > 0 && len(g.ratios) < windowMost {
			g.ratios = append(g.ratios, seconds/usual)
		}
		switch {
		case !v.lone && !(v.probe && (g.probing || g.probes < probeSize)): // it says nothing about usual durations
		case usual == 0:
			g.usual[class] = seconds
		case v.probe && seconds < usual:
			g.usual[class] *= math.Pow(seconds/usual, downRate)
		default:
			g.usual[class] *= math.Pow(seconds/usual, upRate)
		}
	}
	g.tick(now)
	lasted, size := now.Sub(g.since), len(g.ratios)
	if !g.probing && (size >= windowSize && lasted >= windowTime || size >= quietSize && lasted >= quietSpan) {
		g.adjust()
		g.begin(now)
	}
}

// adjust moves the limit by what the window has seen: in proportion to how much longer than usual
// requests take, with some room to grow while the limit is in use. It looks at the quickest
// quarter. When the processors are busy all requests take longer; when a part of the table is slow,
// some do.
func (g *gradient) adjust() {
	slices.Sort(g.ratios)
	ratio := g.ratios[len(g.ratios)/4]
	next := g.limit * max(steepest, min(1, 1/ratio))
	switch used := g.peak >= int(g.limit)/2; {
	case used:
		next += math.Sqrt(g.limit / 2)
	case ratio < tolerance:
		next = g.limit
	}
	g.limit = max(float64(g.least), min(next, float64(g.most)))
	if ratio < quicker {
		for class := range g.usual {
			g.usual[class] *= ratio
		}
	}
}
