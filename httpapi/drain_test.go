package httpapi_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/talkback/talkback/httpapi"
)

// While a listener is closed under clients that come all the time, each is answered or refused. None
// is cut off.
func TestCloseListener(t *testing.T) {
	for range 2 {
		closeUnderLoad(t)
	}
}

// closeUnderLoad closes a listener while clients come, each with a connection of its own.
func closeUnderLoad(t *testing.T) {
	t.Helper()
	listener, err := httpapi.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }() // until the listener is closed
	defer func() { _ = server.Close() }()
	var clients sync.WaitGroup
	busy := make(chan struct{}, 1)
	for range 8 {
		clients.Go(func() {
			for {
				err := askOnce(listener.Addr().String())
				if errors.Is(err, syscall.ECONNREFUSED) {
					return
				}
				if err != nil {
					t.Errorf("a client was cut off: %v", err)
					return
				}
				select {
				case busy <- struct{}{}:
				default:
				}
			}
		})
	}
	<-busy
	if err := httpapi.CloseListener(t.Context(), listener); err != nil {
		t.Error(err)
	}
	clients.Wait()
}

// askOnce connects, asks and reads the answer.
func askOnce(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	_, err = io.ReadAll(conn)
	return err
}

// talk sends a request over a connection that it keeps, and returns the answer.
func talk(t *testing.T, conn net.Conn, path string) *http.Response {
	t.Helper()
	if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	return answered(t, conn)
}

// answered reads a whole answer.
func answered(t *testing.T, conn net.Conn) *http.Response {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return response
}

// Connections that the server keeps open are closed after their next answer, which says so, or when
// they are quiet. One on which a request is arriving is not.
func TestDrain(t *testing.T) {
	connections := httpapi.NewConnections(0, 0)
	server := newBoundServer(t, connections, nil)
	used, silent, sending, fresh := dial(t, server), dial(t, server), dial(t, server), dial(t, server)
	for _, conn := range []net.Conn{used, silent, sending} {
		if talk(t, conn, "/healthz").Close {
			t.Error("a connection ends after an answer of a server that goes on")
		}
	}
	if _, err := io.WriteString(sending, "GET /healthz HTTP/1.1\r\n"); err != nil {
		t.Fatal(err)
	}
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
	select {
	case err := <-drained:
		t.Errorf("Drain returned %v while a request was arriving", err)
	default:
	}
	if _, err := io.WriteString(sending, "Host: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if !answered(t, sending).Close {
		t.Error("the connection of the request that was arriving stays open")
	}
	if err := <-drained; err != nil {
		t.Error(err)
	}
}
