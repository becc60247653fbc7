package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// talk sends a request over a persistent connection, and returns the answer.
func talk(t *testing.T, conn net.Conn, path string) *http.Response {
	t.Helper()
	must.Get(io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"))(t)
	return answered(t, conn)
}

// answered reads a whole answer.
func answered(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	response := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	must.Get(io.Copy(io.Discard, response.Body))(t)
	return response
}

// In a drain, open connections are closed after their next answer, which says so, or when they are
// idle. One on which a request is arriving stays open.
func TestDrain(t *testing.T) {
	connections := httpapi.NewConnections(0, 0)
	server := newBoundServer(t, connections, nil)
	used, silent, sending, fresh := dial(t, server), dial(t, server), dial(t, server), dial(t, server)
	for _, conn := range []net.Conn{used, silent, sending} {
		if talk(t, conn, "/healthz").Close {
			t.Error("a connection ends after an answer of a server that goes on")
		}
	}
	must.Get(io.WriteString(sending, "GET /healthz HTTP/1.1\r\n"))(t)
	connections.Stop()
	if response := talk(t, used, "/readyz"); !response.Close || response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("the first answer after Stop: %s, close %v", response.Status, response.Close)
	}
	drained := make(chan error, 1)
	go func() { drained <- connections.Drain(t.Context()) }()
	for _, conn := range []net.Conn{silent, fresh} {
		if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("a quiet connection: %d bytes, %v; want it closed", n, err)
		}
	}
	isAnsweredInDrain(t, sending, drained)
	must.Do(t, <-drained)
}

// isAnsweredInDrain completes the head of a request that was arriving when the drain began. The
// drain waits for its answer, after which the connection is closed.
func isAnsweredInDrain(t *testing.T, sending net.Conn, drained <-chan error) {
	t.Helper()
	select {
	case err := <-drained:
		t.Errorf("Drain returned %v while a request was arriving", err)
	default:
	}
	must.Get(io.WriteString(sending, "Host: localhost\r\n\r\n"))(t)
	if !answered(t, sending).Close {
		t.Error("the connection of the request that was arriving stays open")
	}
}

// A connection of HTTP/2 is drained like others: a request that comes on it within a second of the
// last one is answered, and then it ends. It ends also if none comes.
func TestDrainOfHTTP2(t *testing.T) {
	for _, further := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			listener, connections := make(pipes), httpapi.NewConnections(0, 0)
			server := &http.Server{Protocols: new(http.Protocols), Handler: httpapi.New(options(func(o *httpapi.Options) { o.Connections = connections }))}
			server.Protocols.SetUnencryptedHTTP2(true)
			bound := connections.Bound(server, listener)
			served := make(chan error)
			go func() { served <- server.Serve(bound) }()
			dialed := false
			client := &http.Transport{Protocols: server.Protocols, DialContext: func(context.Context, string, string) (net.Conn, error) {
				if dialed {
					return nil, syscall.ECONNREFUSED
				}
				dialed = true
				near, far := net.Pipe()
				listener <- far
				return near, nil
			}}
			ask := func() {
				request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/healthz", nil))(t)
				response, err := client.RoundTrip(request)
				if err != nil {
					t.Errorf("a request that comes in a drain: %v", err)
					return
				}
				must.Get(io.Copy(io.Discard, response.Body))(t)
			}
			ask()
			close(listener)
			<-served
			drained := make(chan error)
			go func() { drained <- errors.Join(connections.Drain(t.Context()), server.Shutdown(t.Context())) }()
			for range further {
				time.Sleep(900 * time.Millisecond)
				ask()
			}
			must.Do(t, <-drained)
			client.CloseIdleConnections()
		})
	}
}

// TLS connections on which no request ever came delay the end at most as long as a head may take,
// over either protocol. One with an arriving request, the first or a later one, is answered.
func TestDrainOverTLS(t *testing.T) {
	t.Parallel() // it waits most of the time
	connections := httpapi.NewConnections(0, 0)
	server := httptest.NewUnstartedServer(httpapi.New(options(func(o *httpapi.Options) { o.Connections = connections })))
	server.Listener = connections.Bound(server.Config, server.Listener)
	server.Config.ReadHeaderTimeout = 3 * time.Second
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	shake := func(protocol string) *tls.Conn {
		conn := must.Get(tls.Dial("tcp", server.Listener.Addr().String(), &tls.Config{RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs, NextProtos: []string{protocol}}))(t)
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	silent, used, sending, first, second := shake("http/1.1"), shake("http/1.1"), shake("http/1.1"), shake("http/1.1"), shake("h2")
	frames := http2.NewFramer(second, second)
	must.Get(io.WriteString(second, http2.ClientPreface))(t)
	must.Do(t, errors.Join(frames.WriteSettings(), frames.WriteSettingsAck()))
	talk(t, sending, "/healthz")
	for _, conn := range []net.Conn{sending, first} {
		must.Get(io.WriteString(conn, "GET /healthz HTTP/1.1\r\n"))(t)
	}
	connections.Stop()
	drained := make(chan error, 1)
	go func() { drained <- connections.Drain(t.Context()) }()
	for !talk(t, used, "/healthz").Close { // until the drain has begun
	}
	isAnsweredInDrain(t, sending, drained)
	isAnsweredInDrain(t, first, drained)
	must.Do(t, silent.SetDeadline(time.Now().Add(time.Minute)))
	if n, err := silent.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a connection without a request: %d bytes, %v; want it closed", n, err)
	}
	select {
	case err := <-drained:
		must.Do(t, err)
	case <-time.After(time.Minute):
		t.Error("a connection of HTTP/2 without a request holds up the end")
	}
}

// dialSlow connects to a server as a client whose system buffers little unread data.
func dialSlow(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4096) })
		return errors.Join(err, failed)
	}}
	conn := must.Get(dialer.DialContext(t.Context(), "tcp", server.Listener.Addr().String()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// A client that reads slowly gets its whole answer: the server's end waits for it. A client that
// does not read delays the end only for the allowed time.
func TestDrainWaitsForSlowReaders(t *testing.T) {
	t.Parallel() // it waits most of the time
	const size = 8 << 20
	connections := httpapi.NewConnections(0, 0)
	server := newBoundServer(t, connections, func(o *httpapi.Options) {
		o.Pages = func(http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) })
		}
	})
	ask := func() *http.Response {
		conn := dialSlow(t, server)
		must.Get(io.WriteString(conn, "GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n"))(t)
		return must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	}
	slow, never := ask(), ask()
	connections.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	drained := make(chan error, 1)
	go func() { drained <- connections.Drain(ctx) }()
	select {
	case err := <-drained:
		t.Errorf("Drain returned %v while answers were being read", err)
	case <-time.After(1200 * time.Millisecond): // longer than an idle connection stays open
	}
	if n, err := io.Copy(io.Discard, slow.Body); n != size || err != nil {
		t.Errorf("a slow reader got %d bytes of %d: %v", n, size, err)
	}
	cancel()
	if err := <-drained; !errors.Is(err, context.Canceled) {
		t.Errorf("Drain returned %v while a client did not read", err)
	}
	_ = never.Body.Close()
}
