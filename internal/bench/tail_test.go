package bench

import (
	"cmp"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/call"
)

// Usual latencies of a table: half of the reads within 4 ms, one in a hundred above 20.
const (
	medianLatency = 4 * time.Millisecond
	// latencySpread is the logarithm of 20 ms / 4 ms, in standard deviations that one in a hundred
	// is beyond.
	latencySpread = 1.6094 / 2.3263
)

// visits returns how many pages are read: by default, enough to see the difference. VISITS=20000
// makes the figures stable.
func visits(t *testing.T) int {
	t.Helper()
	text := cmp.Or(os.Getenv("VISITS"), "500")
	count, err := strconv.Atoi(text)
	if err != nil || count < 1 {
		t.Fatalf("VISITS is %q: give a number of pages", text)
	}
	return count
}

// distant is a tape at the end of a network.
type distant struct {
	tape  *tape
	r     *rand.Rand
	calls int
}

// Do answers after a time.
func (d *distant) Do(request *http.Request) (*http.Response, error) {
	d.tape.mu.Lock()
	latency := time.Duration(float64(medianLatency) * math.Exp(latencySpread*d.r.NormFloat64()))
	d.calls++
	d.tape.mu.Unlock()
	select {
	case <-time.After(latency):
		return d.tape.Do(request)
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// One page in a hundred takes longer than the others over a table whose reads are sometimes slow.
// It is slower the more reads it has. Hedging slow reads helps, for at most 5 % more calls. Only
// the latencies count as time, which stands still during computation.
func TestTail(t *testing.T) {
	c := newContest(t)
	one, four := c.cases[0], c.cases[3]
	for _, bc := range []benchCase{one, four} {
		server := tailServer(c, c.wholeTape, false)
		for range 30 { // outside of the bubble, in which no engine answers; a page that is read again may be planned otherwise
			ask(t, server, bc.body)
		}
	}
	single := tailOf(t, c, one, false)
	pages, hedged := tailOf(t, c, four, false), tailOf(t, c, four, true)
	tailOf(t, c, one, true)
	if hedged.p99 >= pages.p99 || hedged.calls > pages.calls*1.05 {
		t.Errorf("hedging made of a p99 of %v in %.2f calls one of %v in %.2f", pages.p99, pages.calls, hedged.p99, hedged.calls)
	}
	if float64(hedged.p99) > 1.25*float64(single.p99) {
		t.Errorf("the p99 of four hedged reads is %v, of one read %v: too far apart", hedged.p99, single.p99)
	}
}

// tail is the durations of pages, and the number of calls of each.
type tail struct {
	p99   time.Duration
	calls float64
}

func tailOf(t *testing.T, c *contest, bc benchCase, hedged bool) (found tail) {
	synctest.Test(t, func(t *testing.T) {
		table := &distant{tape: c.wholeTape, r: rand.New(rand.NewPCG(1, 1))}
		handler := tailServer(c, table, hedged)
		times := make([]time.Duration, visits(t))
		for i := range times {
			began := time.Now()
			ask(t, handler, bc.body)
			times[i] = time.Since(began)
		}
		slices.Sort(times)
		found = tail{quantile(times, 0.99), float64(table.calls) / float64(len(times))}
		t.Logf("%s, hedged %t: p50 %v, p95 %v, p99 %v, p99.9 %v, %.3f calls", bc.name, hedged,
			quantile(times, 0.5), quantile(times, 0.95), found.p99, quantile(times, 0.999), found.calls)
	})
	return found
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[int(q*float64(len(sorted)))].Round(10 * time.Microsecond)
}

// tailServer returns a server without statistics. With them, four ratings would be one read.
func tailServer(c *contest, httpClient dynamodb.HTTPClient, hedged bool) http.Handler {
	client := tapedClient(c.endpoint, httpClient)
	if hedged {
		client = call.Hedged(client)
	}
	return serverOver(client, c.endpoint, c.table, nil)
}
