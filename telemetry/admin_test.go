package telemetry_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/telemetry"
)

// newHandler makes the handler of an admin listener, and what it shows.
func newHandler(t testing.TB, change func(*telemetry.AdminOptions)) (http.Handler, *telemetry.Metrics) {
	t.Helper()
	scraped := must.Get(telemetry.NewPrometheus())(t)
	metrics, err := telemetry.Start(t.Context(), telemetry.Settings{
		Version: "v1", Environment: func(string) (string, bool) { return "", false },
		Logger: slog.New(slog.DiscardHandler), Readers: []telemetry.Reader{scraped.Reader},
	})
	must.Do(t, err)
	t.Cleanup(func() { _ = metrics.Stop(t.Context()) })
	o := telemetry.AdminOptions{Metrics: scraped, FromHere: func(r *http.Request) bool { return strings.HasPrefix(r.RemoteAddr, "127.") }}
	if change != nil {
		change(&o)
	}
	return telemetry.NewAdmin(o), metrics
}

// Who may ask for what: profiles are for this machine alone, and all of a loopback listener is.
func TestWhoMayAsk(t *testing.T) {
	public, _ := newHandler(t, nil)
	loopback, _ := newHandler(t, func(o *telemetry.AdminOptions) { o.Loopback = true })
	ready := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusTeapot) })
	served, _ := newHandler(t, func(o *telemetry.AdminOptions) { o.API = ready })
	const here, elsewhere = "127.0.0.1:5000", "192.0.2.1:5000"
	for _, row := range []struct {
		why     string
		handler http.Handler
		from    string
		path    string
		header  string
		want    int
	}{
		{"metrics for a scraper on another machine", public, elsewhere, "/metrics", "", 200},
		{"but no profiles", public, elsewhere, "/debug/pprof/heap", "", 403},
		{"not even their list", public, elsewhere, "/debug/pprof/", "", 403},
		{"profiles for this machine", public, here, "/debug/pprof/heap", "", 200},
		{"but not for pages of other sites", public, here, "/debug/pprof/heap", "Sec-Fetch-Site: cross-site", 403},
		{"nor of other ports", public, here, "/debug/pprof/heap", "Sec-Fetch-Site: same-site", 403},
		{"nor of an older browser, which sends its origin alone", public, here, "/debug/pprof/heap", "Origin: https://shop.example", 403},
		{"someone types the address", public, here, "/debug/pprof/", "Sec-Fetch-Site: none", 200},
		{"and follows a link on that page", public, here, "/debug/pprof/heap", "Sec-Fetch-Site: same-origin", 200},
		{"a profile takes a minute at most", public, here, "/debug/pprof/profile?seconds=61", "", 400},
		{"nor for a time that is no number", public, here, "/debug/pprof/profile?seconds=NaN", "", 400},
		{"no command line, which may have secrets", public, here, "/debug/pprof/cmdline", "", 404},
		{"nothing that runs something", public, here, "/debug/pprof/symbol", "", 404},
		{"metrics of a loopback listener", loopback, here, "/metrics", "", 200},
		{"not for those that a proxy lets in", loopback, elsewhere, "/metrics", "", 403},
		{"the process runs", public, elsewhere, "/healthz", "", 200},
		{"a process without an API is not ready for anything", public, elsewhere, "/readyz", "", 404},
		{"health as the API tells it", served, elsewhere, "/healthz", "", 418},
		{"readiness as the API tells it", served, elsewhere, "/readyz", "", 418},
		{"nothing else of the API", served, elsewhere, "/graphql", "", 404},
		{"what there is", public, elsewhere, "/", "", 200},
	} {
		r := httptest.NewRequest("GET", row.path, nil)
		r.RemoteAddr = row.from
		if name, value, found := strings.Cut(row.header, ": "); found {
			r.Header.Set(name, value)
		}
		answer := httptest.NewRecorder()
		row.handler.ServeHTTP(answer, r)
		if answer.Code != row.want {
			t.Errorf("%s: %s has the status %d, want %d: %s", row.why, row.path, answer.Code, row.want, answer.Body)
		}
	}
}

// Metrics show what was measured, under the names, the attributes and the units that Prometheus
// gives to them, and Go's own.
func TestMetrics(t *testing.T) {
	handler, m := newHandler(t, nil)
	m.Requests.Began(t.Context(), "GET", "http")
	m.Requests.Began(t.Context(), "BREW", "http")
	m.Requests.Ended(t.Context(), "BREW", "http", "/graphql", 418, 30*time.Millisecond)
	m.Requests.Answered(t.Context(), telemetry.Operation{Type: "query", Outcome: "ok", Took: 30 * time.Millisecond})
	m.Table.Tried("Query", 1, "", 30*time.Millisecond)
	m.Table.Hedged(true)
	m.Pages.PageRead(true, 2, 2.5, 1)
	m.Pages.PageRead(false, 0, 7, 1) // a page without estimates
	m.Pages.CacheLookup("pages", true)
	other, _ := newHandler(t, nil) // another process in this one
	text := scraped(t, handler)
	for _, want := range []string{
		`http_server_active_requests{http_request_method="GET",url_scheme="http"} 1`,
		`http_server_active_requests{http_request_method="_OTHER",url_scheme="http"} 0`,
		`http_server_request_duration_seconds_bucket{http_request_method="_OTHER",http_response_status_code="_OTHER",http_route="/graphql",url_scheme="http",le="0.05"} 1`,
		`http_server_request_duration_seconds_bucket{http_request_method="_OTHER",http_response_status_code="_OTHER",http_route="/graphql",url_scheme="http",le="0.025"} 0`,
		`talkback_operation_duration_seconds_sum{graphql_operation_type="query",talkback_outcome="ok"} 0.03`,
		`db_client_operation_duration_seconds_sum{db_operation_name="Query",db_system_name="aws.dynamodb",error_type="none"} 0.03`,
		`talkback_table_hedges_total{talkback_winner="second"} 1`,
		`talkback_page_estimated_units_total{talkback_knowledge="warm"} 2`,
		`talkback_page_read_units_sum{talkback_knowledge="warm"} 2.5`,
		`talkback_page_waves_count{talkback_knowledge="cold"} 1`,
		`talkback_cache_lookups_total{talkback_cache="pages",talkback_result="hit"} 1`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s in:\n%s", want, text)
		}
	}
	for part, want := range map[string]bool{
		`service_name="talkback",service_version="v1"`: true,
		"\ngo_goroutine_count ":                        true, "\ngo_memory_used_bytes{": true, "\nprocess_uptime_seconds ": true,
		// These did not happen.
		"talkback_table_retries_total{": false, "talkback_refusals_total{": false, `talkback_page_read_units_sum{talkback_knowledge="cold"}`: false,
	} {
		if strings.Contains(text, part) != want {
			t.Errorf("%s is there: %v, in:\n%s", part, !want, text)
		}
	}
	if strings.Contains(scraped(t, other), "http_server") {
		t.Error("two processes share what they measured")
	}
}

func scraped(t *testing.T, handler http.Handler) string {
	t.Helper()
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("status %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// pipes is a listener whose connections buffer nothing.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if conn, open := <-p; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (pipes) Close() error   { return nil }
func (pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// Scrapers that do not read their answers hold a few places: other scrapers are told to come again,
// and nothing else waits.
func TestScrapersThatDoNotRead(t *testing.T) {
	handler, metrics := newHandler(t, nil)
	for _, route := range []string{"/graphql", "/", "/healthz", "/readyz"} { // more than a server buffers
		for _, method := range []string{"GET", "HEAD", "POST", "PUT"} {
			metrics.Requests.Ended(t.Context(), method, "http", route, 200, time.Second)
		}
	}
	listener := make(pipes)
	server := &http.Server{Handler: handler}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(listener)
	}()
	defer func() {
		close(listener)
		_ = server.Close()
		<-ended
	}()
	for range 5 {
		conn := must.Get(listener.dial(t.Context(), "", ""))(t)
		defer conn.Close()
		must.Get(io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"))(t)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
	status := 0
	for tries := 0; status != http.StatusServiceUnavailable; tries++ { // until the places are taken
		if status = ask(t, client, "/metrics"); tries == 100 {
			t.Fatalf("scrapers that do not read take no place: status %d", status)
		}
	}
	if status := ask(t, client, "/healthz"); status != http.StatusOK {
		t.Errorf("/healthz has the status %d while scrapers do not read", status)
	}
}

func ask(t *testing.T, client *http.Client, path string) int {
	t.Helper()
	answer, err := client.Get("http://admin" + path)
	must.Do(t, err)
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, answer.Body)
	return answer.StatusCode
}
