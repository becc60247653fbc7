package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/concurrency"
)

// What it takes to refuse a request, over HTTP and with its client: beside a server that refuses
// everything and does nothing else. us/refusal is processor time of both ends.
func BenchmarkRefusal(b *testing.B) {
	full := concurrency.New(1, 1)
	go func() {
		for b.Context().Err() == nil { // one is in progress for good, another waits
			_, _ = full.Enter(b.Context())
		}
	}()
	for name, handler := range map[string]http.Handler{
		"talkback":       httpapi.New(options(func(o *httpapi.Options) { o.Concurrency = full })),
		"nothing but it": http.HandlerFunc(refuse),
	} {
		b.Run(name, func(b *testing.B) {
			server := httptest.NewServer(handler)
			b.Cleanup(server.Close)
			client := server.Client()
			before := processorTime(b)
			b.ReportAllocs()
			for b.Loop() {
				response, err := client.Post(server.URL+"/graphql", "application/json", strings.NewReader(`{"query":"{ echo }"}`))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusServiceUnavailable {
					b.Fatal(response.Status, err)
				}
				_ = response.Body.Close() // read to its end
			}
			b.ReportMetric((processorTime(b)-before)*1e6/float64(b.N), "us/refusal")
		})
	}
}

func refuse(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // whatever it is
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Retry-After", "1")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"errors":[{"message":"too many requests are under way: try again in a second","extensions":{"code":"OVERLOADED"}}]}`)
}

// processorTime is what the process has used, in seconds.
func processorTime(b *testing.B) float64 {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}
