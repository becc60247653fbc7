package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
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
}

// mostScraped bounds an answer to a scraper, in bytes: a third above what it is.
const mostScraped = 4 << 20

// However hostile clients are, an answer to a scraper has a bounded size.
func TestScrapeIsBounded(t *testing.T) {
	handler, m := newHandler(t, nil)
	fill(t, m)
	size := len(scraped(t, handler))
	if size > mostScraped {
		t.Errorf("a scrape is answered with %d bytes", size)
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
