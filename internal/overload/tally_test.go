package overload

import (
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"
	"time"
)

// tally is the result of the requests of some seconds.
type tally struct {
	Offered, Good, Refused, Failed float64 // requests a second
	Median, P99                    time.Duration
	RefusedMedian, RefusedP99      time.Duration
	LateMedian, LateP99            time.Duration // of the generator
}

// outcomes are the outcomes of requests so far. Durations count from when a request was due: when
// the generator is late, its client waits too.
type outcomes struct {
	late          []time.Duration // until the generator had written the request
	good, refused []time.Duration // until the answer was read
	failed        int
}

func (o *outcomes) answered(status int, took time.Duration) {
	switch status {
	case http.StatusOK:
		o.good = append(o.good, took)
	case http.StatusServiceUnavailable:
		o.refused = append(o.refused, took)
	default:
		o.failed++
	}
}

// tally sums up requests that were sent over a period.
func (o *outcomes) tally(lasting time.Duration) tally {
	perSecond := func(n int) float64 { return float64(n) / lasting.Seconds() }
	return tally{
		Offered: perSecond(len(o.good) + len(o.refused) + o.failed),
		Good:    perSecond(len(o.good)), Refused: perSecond(len(o.refused)), Failed: perSecond(o.failed),
		Median: quantile(o.good, 0.5), P99: quantile(o.good, 0.99),
		RefusedMedian: quantile(o.refused, 0.5), RefusedP99: quantile(o.refused, 0.99),
		LateMedian: quantile(o.late, 0.5), LateP99: quantile(o.late, 0.99),
	}
}

// quantile returns 0 for no durations.
func quantile(took []time.Duration, of float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(of*float64(len(took)))]
}

// atRandom returns the due times of requests that come at random: those of a Poisson process.
func atRandom(r *rand.Rand, perSecond float64, lasting time.Duration) (due []time.Duration) {
	gap := func() time.Duration { return time.Duration(r.ExpFloat64() / perSecond * float64(time.Second)) }
	for at := gap(); at < lasting; at += gap() {
		due = append(due, at)
	}
	return due
}

// Requests come at their rate, and as often close together as chance has it: the standard deviation
// of the gaps equals their mean.
func TestAtRandom(t *testing.T) {
	due := atRandom(rand.New(rand.NewPCG(1, 2)), 300, 100*time.Second)
	mean := due[len(due)-1].Seconds() / float64(len(due))
	var squares, last float64
	for _, at := range due {
		squares += math.Pow(at.Seconds()-last-mean, 2)
		last = at.Seconds()
	}
	deviation := math.Sqrt(squares / float64(len(due)))
	if 1/mean < 290 || 1/mean > 310 || deviation < 0.95*mean || deviation > 1.05*mean {
		t.Errorf("%.0f requests a second, gaps of %.2f ms vary by %.2f ms", 1/mean, mean*1e3, deviation*1e3)
	}
}

// Each request ends in one way.
func TestTally(t *testing.T) {
	var o outcomes
	for i := range 100 {
		o.late = append(o.late, time.Duration(i)*time.Microsecond)
		o.answered(http.StatusOK, time.Duration(i)*time.Millisecond)
	}
	o.answered(http.StatusServiceUnavailable, time.Second)
	o.answered(http.StatusBadRequest, time.Hour)
	o.failed++
	want := tally{
		Offered: 10.3, Good: 10, Refused: 0.1, Failed: 0.2,
		Median: 50 * time.Millisecond, P99: 99 * time.Millisecond, RefusedMedian: time.Second, RefusedP99: time.Second,
		LateMedian: 50 * time.Microsecond, LateP99: 99 * time.Microsecond,
	}
	if got := o.tally(10 * time.Second); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
