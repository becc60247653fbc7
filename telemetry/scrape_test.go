package telemetry_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/telemetry"
)

// fill measures everything with every combination of values that the table of instruments allows,
// as hostile clients on a failing table at last would.
func fill(tb testing.TB, m *telemetry.Metrics) {
	tb.Helper()
	valuesOf := map[string][]string{}
	for _, row := range telemetry.Instruments() {
		for _, a := range row.Attributes {
			valuesOf[row.Name+" "+a.Key] = append(a.Values, "anything else")
		}
	}
	of := func(name, key string) []string {
		values := valuesOf[name+" "+key]
		if values == nil {
			tb.Fatalf("%s has no %s", name, key)
		}
		return values
	}
	const http, calls = "http.server.request.duration", "db.client.operation.duration"
	for _, method := range of(http, "http.request.method") {
		for _, scheme := range of(http, "url.scheme") {
			m.Requests.Began(tb.Context(), method, scheme)
			for _, route := range of(http, "http.route") {
				for _, status := range of(http, "http.response.status_code") {
					code, _ := strconv.Atoi(status)
					m.Requests.Ended(tb.Context(), method, scheme, route, code, time.Millisecond)
				}
			}
		}
	}
	const operations = "talkback.operations"
	for _, kind := range of(operations, "graphql.operation.type") {
		for _, outcome := range of(operations, "talkback.outcome") {
			for _, code := range of(operations, "error.type") {
				m.Requests.Answered(tb.Context(), telemetry.Operation{Type: kind, Outcome: outcome, Code: code, EstimatedUnits: 1, Units: 1})
			}
		}
	}
	for _, reason := range of("talkback.refusals", "talkback.reason") {
		m.Requests.Answered(tb.Context(), telemetry.Operation{Outcome: "refused", Refused: reason})
	}
	for _, name := range of(calls, "db.operation.name") {
		m.Table.Throttled(name)
		for _, failure := range of(calls, "error.type") {
			m.Table.Tried(name, 2, failure, time.Millisecond)
		}
	}
	for _, index := range of("talkback.table.read_units", "talkback.index") {
		for _, purpose := range of("talkback.table.read_units", "talkback.purpose") {
			m.Table.Read(index, purpose, 1)
			m.Table.Wrote(index, purpose, 1)
		}
	}
	for _, cache := range of("talkback.cache.lookups", "talkback.cache") {
		m.Pages.CacheLookup(cache, true)
	}
	for _, what := range of("talkback.loader.batch_size", "talkback.loader") {
		m.Pages.Batched(what, 1)
	}
}

// mostScraped bounds an answer to a scraper, in bytes: a third above what it is.
const mostScraped = 4 << 20

// Whatever hostile clients send, an answer to a scraper has no more series than the table of
// instruments allows, and a bounded size.
func TestScrapeIsBounded(t *testing.T) {
	handler, m := newHandler(t, nil)
	fill(t, m)
	full := scraped(t, handler)
	if len(full) > mostScraped {
		t.Errorf("a scrape is answered with %d bytes", len(full))
	}
	random := rand.New(rand.NewPCG(1, 2))
	word := func() string { return fmt.Sprint("word ", random.Uint64()) }
	for range 10 {
		m.Requests.Began(t.Context(), word(), word())
		m.Requests.Ended(t.Context(), word(), word(), word(), random.Int(), time.Second)
		m.Requests.Answered(t.Context(), telemetry.Operation{Type: word(), Outcome: word(), Code: word(), Refused: word(), Units: 1, EstimatedUnits: 1})
		m.Table.Tried(word(), 2, word(), time.Second)
		m.Table.Throttled(word())
		m.Table.Read(word(), word(), 1)
		m.Table.Wrote(word(), word(), 1)
		m.Pages.CacheLookup(word(), true)
		m.Pages.Batched(word(), 1)
	}
	if allowed, got := strings.Count(full, "\n"), strings.Count(scraped(t, handler), "\n"); got > allowed {
		t.Errorf("random requests made %d series more", got-allowed)
	}
}

// BenchmarkScrape answers a scrape of every series that the table of instruments allows.
func BenchmarkScrape(b *testing.B) {
	handler, m := newHandler(b, nil)
	fill(b, m)
	b.ReportAllocs()
	size := 0
	for b.Loop() {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		size = answer.Body.Len()
	}
	b.ReportMetric(float64(size), "bytes")
}

// BenchmarkScrapeUnderLoad measures requests as a busy server does, with every series that there
// can be, while as many scrapers as are answered ask without a pause: thousands of times as often
// as Prometheus. It reports what measuring a request takes in the middle and at worst, how long a
// scrape takes beside that, and how much the heap has grown at most.
func BenchmarkScrapeUnderLoad(b *testing.B) {
	for _, row := range []struct {
		name     string
		scrapers int
	}{{"alone", 0}, {"one scraper", 1}, {"three scrapers", 3}} {
		b.Run(row.name, func(b *testing.B) { underLoad(b, row.scrapers) })
	}
}

func underLoad(b *testing.B, scrapers int) {
	handler, m := newHandler(b, nil)
	fill(b, m)
	server := httptest.NewServer(handler)
	defer server.Close()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)

	var over atomic.Bool
	var scraping sync.WaitGroup
	scrapes := make([][]time.Duration, scrapers)
	for i := range scrapers {
		scraping.Go(func() {
			for !over.Load() {
				scrapes[i] = append(scrapes[i], scrapeOnce(b, server.URL))
			}
		})
	}
	var took []time.Duration
	most := before.HeapInuse
	for b.Loop() {
		began := time.Now()
		measureRequest(b, m)
		took = append(took, time.Since(began))
		if len(took)%50_000 == 0 {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse-uint64(cap(took)*8))
		}
	}
	over.Store(true)
	scraping.Wait()
	report(b, took, "request")
	report(b, slices.Concat(scrapes...), "scrape")
	b.ReportMetric(float64(int64(most)-int64(before.HeapInuse))/1e6, "MB")
	b.ReportMetric(0, "ns/op") // the middle says more
}

// scrapeOnce scrapes, and returns how long that took.
func scrapeOnce(b *testing.B, address string) time.Duration {
	began := time.Now()
	answer, err := http.Get(address + "/metrics")
	if err != nil {
		b.Error(err)
		return 0
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		b.Errorf("%s: %v", answer.Status, err)
	}
	return time.Since(began)
}

// measureRequest measures what a page of two reads tells.
func measureRequest(b testing.TB, m *telemetry.Metrics) {
	m.Requests.Began(b.Context(), http.MethodPost, "http")
	for range 2 {
		m.Table.Tried("Query", 1, "", time.Millisecond)
		m.Table.Read("all", "PAGE", 1)
	}
	m.Pages.PageRead(true, 1, 1, 1)
	m.Requests.Answered(b.Context(), telemetry.Operation{Type: "query", Outcome: "ok", EstimatedUnits: 2, Units: 2, Took: time.Millisecond})
	m.Requests.Ended(b.Context(), http.MethodPost, "http", "/graphql", http.StatusOK, time.Millisecond)
}

// report reports the middle of durations, and the one that one in a thousand exceeds.
func report(b *testing.B, took []time.Duration, what string) {
	if len(took) == 0 {
		return
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "us/"+what)
	b.ReportMetric(float64(took[len(took)*999/1000].Nanoseconds())/1e3, "us-99.9%/"+what)
}
