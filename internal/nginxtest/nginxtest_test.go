package nginxtest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// server is one of two behind nginx, whose /full refuses everything.
func server(t *testing.T) (s *httptest.Server, address string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/full", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") })
	s = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s, s.Listener.Addr().String()
}

// Servers that refuse some requests answer the others. One that is gone has its requests answered
// by the other server, also those that must not be sent twice.
func TestRefusalsAreNoFailures(t *testing.T) {
	gone, first := server(t)
	_, second := server(t)
	url := Start(t, [2]string{first, second})
	for i := range 40 {
		if i == 20 {
			gone.Close()
		}
		for _, ask := range []struct {
			method, path string
			want         int
		}{
			{http.MethodGet, "/full", http.StatusServiceUnavailable},
			{http.MethodPost, "/full", http.StatusServiceUnavailable},
			{http.MethodGet, "/", http.StatusOK},
			{http.MethodPost, "/", http.StatusOK},
		} {
			request, err := http.NewRequestWithContext(t.Context(), ask.method, url+ask.path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = response.Body.Close()
			if response.StatusCode != ask.want {
				t.Errorf("request %d: %s %s is %s, want %d", i, ask.method, ask.path, response.Status, ask.want)
			}
		}
	}
}

// A server learns that a client asks for a WebSocket, and of nothing else.
func TestUpgrade(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "%q %q", r.Header.Get("Upgrade"), strings.ToLower(r.Header.Get("Connection")))
	}))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	for _, url := range []string{Start(t, [2]string{address, address}), StartCache(t, address)} {
		for upgrade, want := range map[string]string{"": `"" ""`, "websocket": `"websocket" "upgrade"`} {
			request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))(t)
			if upgrade != "" {
				request.Header.Set("Upgrade", upgrade)
				request.Header.Set("Connection", "Upgrade")
			}
			response := must.Get(http.DefaultClient.Do(request))(t)
			got, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil || string(got) != want {
				t.Errorf("asked for %q, the server is told %s, %v; want %s", upgrade, got, err, want)
			}
		}
	}
	// A subscription shows a sign of life every 15 seconds.
	for _, name := range []string{"nginx.conf", "nginx-cache.conf"} {
		configure(t, name, [][2]string{{"proxy_read_timeout 40s;", ""}})
	}
}
