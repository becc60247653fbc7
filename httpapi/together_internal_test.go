package httpapi

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// countingListener counts the writes to its connections.
type countingListener struct {
	net.Listener
	writes *atomic.Int64
}

func (l countingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return countingConn{conn, l.writes}, err
}

type countingConn struct {
	net.Conn
	writes *atomic.Int64
}

func (c countingConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}

// The head and the body of an answer are one write, unless the answer is large.
func TestAnswerIsOneWrite(t *testing.T) {
	connections := NewConnections(0, 0)
	sender := &sender{connections: connections, unsent: newBudget(1 << 20)}
	var body []byte
	server := httptest.NewUnstartedServer(connections.entered(sender.builtFirst(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(body)
	}))))
	var writes atomic.Int64
	server.Listener = connections.Bound(server.Config, countingListener{server.Listener, &writes})
	server.Start()
	defer server.Close()
	for _, size := range []int{1, 2000, 4096, 9000, keptBody, keptBody + 1, 3 * sendChunk} {
		body = bytes.Repeat([]byte("x"), size)
		writes.Store(0)
		response, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || !bytes.Equal(got, body) {
			t.Errorf("%d bytes, %v, of %d", len(got), err, size)
		}
		if size <= keptBody && writes.Load() != 1 {
			t.Errorf("%d bytes took %d writes", size, writes.Load())
		}
	}
}
