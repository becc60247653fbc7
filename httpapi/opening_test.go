package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/httpapi"
)

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
