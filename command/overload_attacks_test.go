package command_test

import (
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// One client with hundreds of connections is refused by its own limit, and another is answered. The
// number of requests in progress is fixed: on a busy machine, an adaptive limit refuses both.
func TestManyConnectionsOfOneClient(t *testing.T) {
	t.Parallel()
	const connections = 300
	places := strconv.Itoa(2 * connections)
	s := startServer(t, append(onTable(t), "--trusted-proxy", "127.0.0.0/8", "--client-read-units", "20", "--client-burst", "20",
		"--min-in-flight", places, "--max-in-flight", places)...)
	many := &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections}
	t.Cleanup(many.CloseIdleConnections)
	ask := func(client http.RoundTripper, address string) int {
		got, err := send(t.Context(), client, http.MethodPost, s.address+"/graphql", operation(`{ product(id: "cup") { comments(first: 3) { nodes { id } } } }`, nil), "X-Forwarded-For: "+address)
		if err != nil {
			t.Error(err)
		}
		return got.status
	}
	var answered, limited atomic.Int64
	var crowd sync.WaitGroup
	for range connections {
		crowd.Go(func() {
			for range 2 {
				switch ask(many, "203.0.113.1") {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusTooManyRequests:
					limited.Add(1)
				}
			}
		})
	}
	for range 20 {
		if status := ask(http.DefaultTransport, "203.0.113.2"); status != http.StatusOK {
			t.Errorf("another client gets %d", status)
		}
	}
	crowd.Wait()
	if limited.Load() < connections || answered.Load() == 0 {
		t.Errorf("%d requests are answered, and %d refused by the limit of the client", answered.Load(), limited.Load())
	}
}
