package httpapi_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/httpapi"
)

// What it takes to refuse a request over HTTP: beside a server that refuses everything and does
// nothing else. The client writes and reads bytes as they are, so allocations are the server's, and
// us/refusal is processor time of the server and of four calls of the system.
func BenchmarkRefusal(b *testing.B) {
	full, release := crowded(b)
	defer release()
	connections := httpapi.NewConnections(0, 0)
	talkback := httptest.NewUnstartedServer(httpapi.New(options(func(o *httpapi.Options) { o.Concurrency, o.Connections = full, connections })))
	talkback.Listener = connections.Bound(talkback.Config, talkback.Listener)
	bare := httptest.NewUnstartedServer(http.HandlerFunc(refuse))
	for _, row := range []struct {
		name   string
		server *httptest.Server
	}{{"talkback", talkback}, {"nothing but it", bare}} {
		row.server.Config.ReadTimeout = time.Minute // as the program has them
		row.server.Config.WriteTimeout = time.Minute
		row.server.Start()
		b.Cleanup(row.server.Close)
		b.Run(row.name, func(b *testing.B) { refusals(b, row.server.Listener.Addr().String()) })
	}
}

func refusals(b *testing.B, address string) {
	b.Helper()
	connection, err := net.Dial("tcp", address)
	if err != nil {
		b.Fatal(err)
	}
	defer connection.Close()
	const body = `{"query":"query Page($product: ID!) { product(id: $product) { comments(first: 100) { nodes { id text } } } }","variables":{"product":"1"}}`
	request := fmt.Appendf(nil, "POST /graphql HTTP/1.1\r\nHost: %s\r\nUser-Agent: bench\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", address, len(body), body)
	answer := make([]byte, 4<<10)
	before := processorTime(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := connection.Write(request); err != nil {
			b.Fatal(err)
		}
		n, err := connection.Read(answer)
		if err != nil || !strings.HasPrefix(string(answer[:n]), "HTTP/1.1 503 ") || answer[n-1] != '}' {
			b.Fatalf("%q, %v", answer[:n], err)
		}
	}
	b.ReportMetric((processorTime(b)-before)*1e6/float64(b.N), "us/refusal")
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
