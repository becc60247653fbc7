package httpapi_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/httpapi"
)

// probe asks whether a server is ready, and returns the status.
func probe(ctx context.Context, server http.Handler) int {
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/readyz", nil))
	return answer.Code
}

// Health and readiness are only read, health also while there is no handler yet.
func TestMethodsOfProbes(t *testing.T) {
	opening, opened := httpapi.NewOpening("the table is being opened"), httpapi.New(options(func(*httpapi.Options) {}))
	for _, row := range []struct {
		server       http.Handler
		method, path string
		refused      bool
	}{
		{opening, "HEAD", "/healthz", false},
		{opening, "POST", "/healthz", true},
		{opened, "GET", "/healthz", false},
		{opened, "POST", "/healthz", true},
		{opened, "OPTIONS", "/healthz", true},
		{opened, "HEAD", "/readyz", false},
		{opened, "POST", "/readyz", true},
		{opened, "DELETE", "/readyz", true},
	} {
		w := httptest.NewRecorder()
		row.server.ServeHTTP(w, httptest.NewRequest(row.method, row.path, nil))
		if allow := w.Header().Get("Allow"); (w.Code == http.StatusMethodNotAllowed) != row.refused || (allow == "GET, HEAD") != row.refused {
			t.Errorf("%T: %s %s: %d, Allow: %q", row.server, row.method, row.path, w.Code, allow)
		}
	}
}

// The table is checked once a second, however many probes arrive. A probe that hangs up is not
// logged, and does not end the check that others wait for. A second later, the answer is a new
// result.
func TestReadiness(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		var broken atomic.Bool
		var log bytes.Buffer
		server := httpapi.New(options(func(o *httpapi.Options) {
			o.Logger = slog.New(slog.NewTextHandler(&log, nil))
			o.Ready = func(ctx context.Context) error {
				asked.Add(1)
				select {
				case <-time.After(100 * time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
				if broken.Load() {
					return errors.New("it is gone")
				}
				return nil
			}
		}))
		crowd := func(want int) {
			t.Helper()
			impatient, hangUp := context.WithCancel(t.Context())
			var probes sync.WaitGroup
			probes.Go(func() { probe(impatient, server) })
			synctest.Wait() // the first probe's check is under way
			hangUp()
			for range 100 {
				probes.Go(func() {
					if got := probe(t.Context(), server); got != want {
						t.Errorf("%d, want %d", got, want)
					}
				})
			}
			probes.Wait()
			if got := probe(t.Context(), server); got != want { // from the result so far
				t.Errorf("a probe behind the others: %d, want %d", got, want)
			}
		}
		for round, test := range []struct {
			broken bool
			want   int
		}{{false, 200}, {true, 503}, {false, 200}} {
			broken.Store(test.broken)
			crowd(test.want)
			if got := int(asked.Load()); got != round+1 {
				t.Errorf("the table was asked %d times in %d crowds", got, round+1)
			}
			time.Sleep(time.Second)
		}
		if got := strings.Count(log.String(), "\n"); got != 1 || !strings.Contains(log.String(), "it is gone") {
			t.Errorf("the log has %d lines, want the one reason:\n%s", got, log.String())
		}
	})
}

// A server whose table does not answer is not ready, and the probe is answered in time.
func TestReadinessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := httpapi.New(options(func(o *httpapi.Options) {
			o.Ready = func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
		}))
		began := time.Now()
		if got := probe(t.Context(), server); got != 503 || time.Since(began) > 2*time.Second {
			t.Errorf("%d after %v", got, time.Since(began))
		}
	})
}

// Before there is a handler, every path is answered. The answers say that the process is alive, and
// why it is not ready.
func TestOpening(t *testing.T) { synctest.Test(t, testOpening) }

func testOpening(t *testing.T) {
	opening := httpapi.NewOpening("the table is being opened")
	ask := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		opening.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w
	}
	for _, row := range []struct {
		path   string
		status int
		kind   string
		body   string
	}{
		{"/healthz", http.StatusOK, "text/plain", "ok\n"},
		{"/readyz", http.StatusServiceUnavailable, "text/plain", "not ready: the table is being opened\n"},
		{"/", http.StatusServiceUnavailable, "text/plain", "not ready: the table is being opened\n"},
		{"/graphql", http.StatusServiceUnavailable, "application/json", `{"errors":[{"message":"not ready: the table is being opened","extensions":{"code":"UNAVAILABLE"}}]}`},
	} {
		w := ask(row.path)
		if w.Code != row.status || w.Body.String() != row.body || !strings.HasPrefix(w.Header().Get("Content-Type"), row.kind) {
			t.Errorf("%s: %d, %v, %s", row.path, w.Code, w.Header(), w.Body)
		}
		if (row.status == http.StatusOK) == (w.Header().Get("Retry-After") != "") {
			t.Errorf("%s: Retry-After %q", row.path, w.Header().Get("Retry-After"))
		}
	}
	opening.Say("the sample data is being loaded")
	if body := ask("/readyz").Body.String(); !strings.Contains(body, "sample data") {
		t.Errorf("later: %s", body)
	}
	opening.Open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	if w := ask("/readyz"); w.Code != http.StatusTeapot {
		t.Errorf("once open: %d", w.Code)
	}
}

// A request to the API waits for the handler, but not for long, and only some requests do. Nothing
// else waits.
func TestWaitingForTheAPI(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opening := httpapi.NewOpening("the table is being opened")
		statuses := make(chan int, 1000)
		ask := func(path string) {
			w := httptest.NewRecorder()
			opening.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, nil))
			statuses <- w.Code
		}
		for n := range 300 {
			go ask([]string{"/graphql", "/products/x", "/"}[n%3])
		}
		synctest.Wait()
		refused := len(statuses)
		if refused != 300-256 {
			t.Errorf("%d of 300 are refused at once", refused)
		}
		began := time.Now()
		ask("/readyz")
		if time.Since(began) > 0 {
			t.Error("a probe waits")
		}
		time.Sleep(4 * time.Second)
		opening.Open(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
		synctest.Wait()
		answered := 0
		for range len(statuses) {
			if <-statuses == http.StatusTeapot {
				answered++
			}
		}
		if answered != 256 {
			t.Errorf("%d that waited are answered", answered)
		}
	})
}
