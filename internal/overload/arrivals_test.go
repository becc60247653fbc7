package overload

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// patience is how long clients wait for an answer. One that comes later is of no use.
const patience = time.Second

// tally is what came of the requests of some seconds.
type tally struct {
	Offered, Good, Refused, Failed float64 // requests a second
	Median, P99                    time.Duration
	RefusedMedian, RefusedP99      time.Duration
}

// arrivals sends requests at random times.
type arrivals struct {
	send func(context.Context) (status int, err error)
	r    *rand.Rand

	mu            sync.Mutex
	good, refused []time.Duration // since the request was due
	failed        int
}

// run sends so many requests a second for so long, each at its time whatever becomes of the others,
// and waits for what comes of them. Durations count from when a request was due: when the generator
// is late, its client waits too.
func (a *arrivals) run(perSecond float64, lasting time.Duration) tally {
	a.good, a.refused, a.failed = nil, nil, 0
	var group sync.WaitGroup
	began, sent := time.Now(), 0
	for due := a.gap(perSecond); due < lasting; due += a.gap(perSecond) {
		time.Sleep(time.Until(began.Add(due)))
		sent++
		group.Go(func() { a.one(began.Add(due)) })
	}
	group.Wait()
	return a.tally(sent, lasting)
}

// gap is the time until the next request comes: that of a Poisson process.
func (a *arrivals) gap(perSecond float64) time.Duration {
	return time.Duration(a.r.ExpFloat64() / perSecond * float64(time.Second))
}

func (a *arrivals) one(due time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), due.Add(patience))
	defer cancel()
	status, err := a.send(ctx)
	took := time.Since(due)
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil && status == http.StatusOK:
		a.good = append(a.good, took)
	case err == nil && status == http.StatusServiceUnavailable:
		a.refused = append(a.refused, took)
	default:
		a.failed++
	}
}

func (a *arrivals) tally(sent int, lasting time.Duration) tally {
	perSecond := func(n int) float64 { return float64(n) / lasting.Seconds() }
	return tally{
		Offered: perSecond(sent), Good: perSecond(len(a.good)), Refused: perSecond(len(a.refused)), Failed: perSecond(a.failed),
		Median: quantile(a.good, 0.5), P99: quantile(a.good, 0.99),
		RefusedMedian: quantile(a.refused, 0.5), RefusedP99: quantile(a.refused, 0.99),
	}
}

// quantile is 0 of no durations.
func quantile(took []time.Duration, of float64) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	return took[int(of*float64(len(took)))]
}

// posting returns a function that posts one of several bodies to a server, and reads the answer.
func posting(url string, bodies func() io.Reader) func(context.Context) (int, error) {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4096}}
	return func(ctx context.Context) (int, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bodies())
		if err != nil {
			return 0, err
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		_, err = io.Copy(io.Discard, response.Body)
		return response.StatusCode, errors.Join(err, response.Body.Close())
	}
}

// Requests come at their rate though none is answered, and each ends in one way.
func TestArrivals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		calls := 0
		a := &arrivals{r: rand.New(rand.NewPCG(1, 2)), send: func(ctx context.Context) (int, error) {
			mu.Lock()
			calls++
			kind := calls % 3
			mu.Unlock()
			switch kind {
			case 0:
				<-ctx.Done()
				return 0, ctx.Err()
			case 1:
				time.Sleep(20 * time.Millisecond)
				return http.StatusOK, nil
			}
			return http.StatusServiceUnavailable, nil
		}}
		got := a.run(300, 10*time.Second)
		if got.Offered < 270 || got.Offered > 330 {
			t.Errorf("%.0f requests a second, want 300", got.Offered)
		}
		if sum := got.Good + got.Refused + got.Failed; sum < got.Offered-0.01 || sum > got.Offered+0.01 {
			t.Errorf("%.1f of %.1f requests end", sum, got.Offered)
		}
		if got.Median != 20*time.Millisecond || got.RefusedP99 != 0 {
			t.Errorf("%+v", got)
		}
	})
}
