package httpapi

import (
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"
)

// dated is a connection that keeps its deadlines.
type dated struct {
	net.Conn
	read, write time.Time
}

// SetReadDeadline implements [net.Conn].
func (d *dated) SetReadDeadline(t time.Time) error { d.read = t; return nil }

// SetWriteDeadline implements [net.Conn].
func (d *dated) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// Write implements [net.Conn].
func (d *dated) Write(p []byte) (int, error) { return len(p), nil }

// An answer of the gate has the deadlines that net/http would set, and so has the request after it.
func TestDeadlinesOfTheGate(t *testing.T) {
	for _, test := range []struct {
		server      *http.Server
		read, write time.Duration
		why         string
	}{
		{&http.Server{ReadTimeout: time.Minute, WriteTimeout: time.Hour, IdleTimeout: 2 * time.Minute}, 2 * time.Minute, time.Hour, "all are set"},
		{&http.Server{ReadTimeout: time.Minute}, time.Minute, 0, "the time to read holds for idle connections, too"},
		{&http.Server{}, 0, 0, "there are none"},
	} {
		conn, before := &dated{}, time.Now()
		(&connection{Conn: conn, all: &Connections{server: test.server}}).answer([]byte("no"))
		for _, got := range []struct {
			at    time.Time
			lasts time.Duration
		}{{conn.read, test.read}, {conn.write, test.write}} {
			if want := before.Add(got.lasts); got.at.IsZero() != (got.lasts == 0) || got.lasts > 0 && (got.at.Before(want) || got.at.After(want.Add(time.Since(before)))) {
				t.Errorf("until %v, want %v after %v: %s", got.at, got.lasts, before, test.why)
			}
		}
	}
}

// half is a connection that takes half of what is written before the time is over.
type half struct {
	dated
	closed bool
}

// Write implements [net.Conn].
func (h *half) Write(p []byte) (int, error) { return len(p) / 2, os.ErrDeadlineExceeded }

// Close implements [net.Conn].
func (h *half) Close() error { h.closed = true; return nil }

// Nothing follows an answer of which only a part was sent.
func TestGateAfterHalfAnAnswer(t *testing.T) {
	conn := &half{}
	(&connection{Conn: conn, all: &Connections{server: &http.Server{}}}).answer([]byte("an answer"))
	if !conn.closed {
		t.Error("the connection goes on")
	}
}

// sent is a connection on which bytes have come, and then the end.
type sent struct {
	dated
	in     bytes.Reader
	out    bytes.Buffer
	closed chan struct{}
}

// Read implements [net.Conn].
func (s *sent) Read(p []byte) (int, error) { return s.in.Read(p) }

// Write implements [net.Conn].
func (s *sent) Write(p []byte) (int, error) { return s.out.Write(p) }

// Close implements [net.Conn].
func (s *sent) Close() error { close(s.closed); return nil }

// RemoteAddr implements [net.Conn].
func (s *sent) RemoteAddr() net.Addr { return &net.TCPAddr{} }

// LocalAddr implements [net.Conn].
func (s *sent) LocalAddr() net.Addr { return &net.TCPAddr{} }

// accepting is a listener whose connections are handed to it.
type accepting chan net.Conn

// Accept implements [net.Listener].
func (a accepting) Accept() (net.Conn, error) {
	if conn, more := <-a; more {
		return conn, nil
	}
	return nil, net.ErrClosed
}

// Close implements [net.Listener].
func (a accepting) Close() error { return nil }

// Addr implements [net.Listener].
func (a accepting) Addr() net.Addr { return &net.TCPAddr{} }

// What the gate takes for one request is one for a server of net/http, which then waits for the next.
func FuzzWhole(f *testing.F) {
	type request struct {
		path, query, host string
		body              int64
	}
	type outcome struct {
		request
		calls, waits int
	}
	var got outcome
	server := http.Server{
		ErrorLog: log.New(io.Discard, "", 0),
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.Copy(io.Discard, r.Body)
			got.request = request{r.URL.Path, r.URL.RawQuery, r.Host, body}
			got.calls++
			w.WriteHeader(http.StatusServiceUnavailable)
		}),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateIdle {
				got.waits++
			}
		},
		Protocols: &http.Protocols{},
	}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // as the program has it
	listener := make(accepting)
	go func() { _ = server.Serve(listener) }()
	f.Cleanup(func() { close(listener) })
	for _, line := range []string{
		"A: b", "Connection: close", "Connection: keep-alive close", "Transfer-Encoding: chunked", "Transfer-Encoding: identity", "Content-Length: 5", "Content-Length: 4",
		"Expect: 100-continue", "Upgrade: h2c", "Trailer: A", "Host: y", "A: b\r\n c", "A:\x01", "A : b", "\x0bA: b", "A: b\rc",
	} {
		for _, request := range []string{
			"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde", "GET /graphql?query={x} HTTP/1.1\r\nHost: x\r\n\r\n",
			"POST /graphql HTTP/2.0\r\nHost: x\r\n\r\n", "POST /graphql HTTP/1.0\r\nHost: x\r\n\r\n",
		} {
			with := strings.Replace(request, "\r\n", "\r\n"+line+"\r\n", 1)
			f.Add([]byte(with))
			f.Add([]byte(strings.ReplaceAll(with, "\r\n", "\n")))
		}
	}
	f.Fuzz(func(t *testing.T, read []byte) {
		var with workbench
		r := with.wholeRequest(read)
		if !isToAPI(read) || r == nil {
			t.Skip()
		}
		conn := &sent{closed: make(chan struct{})}
		conn.in.Reset(read)
		got = outcome{}
		listener <- conn
		<-conn.closed
		want := outcome{request{r.URL.Path, r.URL.RawQuery, r.Host, r.ContentLength}, 1, 1}
		if answer := conn.out.String(); got != want || want.path != graphQLPath || !strings.HasPrefix(answer, "HTTP/1.1 503") || strings.Contains(answer, "Connection: close") {
			t.Errorf("%q: %+v %q", read, got, answer)
		}
	})
}
