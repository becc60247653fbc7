package httpapi_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// newWholeServer starts a server that is set up like the program's own, with HTTP/2 over plain
// connections.
func newWholeServer(t *testing.T, set func(*httpapi.Options)) *httptest.Server {
	t.Helper()
	connections := httpapi.NewConnections(1000, httpapi.DefaultMaxArriving)
	return newBoundServer(t, connections, set)
}

// newBoundServer starts a server with the given bounds on connections.
func newBoundServer(t *testing.T, connections *httpapi.Connections, set func(*httpapi.Options)) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(httpapi.New(options(func(o *httpapi.Options) {
		o.Connections = connections
		if set != nil {
			set(o)
		}
	})))
	server.Listener = connections.Bound(server.Config, server.Listener)
	server.Config.WriteTimeout = 25 * time.Second
	server.Config.Protocols = &http.Protocols{}
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// dial connects to a server until the test ends.
func dial(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	conn := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// refuseToRead opens a connection that sends requests over HTTP/2 and allows no byte of an answer,
// as a browser on a page of a site does. It returns true when all answers have begun, and false
// when the server hung up before.
func refuseToRead(t *testing.T, server *httptest.Server, requests int, path, site string) bool {
	t.Helper()
	conn := dial(t, server)
	must.Get(io.WriteString(conn, http2.ClientPreface))(t)
	framer := http2.NewFramer(conn, conn)
	must.Do(t, framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}))
	var head bytes.Buffer
	encoder := hpack.NewEncoder(&head)
	for i := range requests {
		head.Reset()
		for _, field := range [][2]string{{":method", "GET"}, {":scheme", "http"}, {":authority", "localhost"}, {":path", path}, {"sec-fetch-site", site}} {
			must.Do(t, encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}))
		}
		if framer.WriteHeaders(http2.HeadersFrameParam{StreamID: uint32(2*i + 1), BlockFragment: head.Bytes(), EndStream: true, EndHeaders: true}) != nil {
			return false
		}
	}
	for begun := 0; begun < requests; {
		frame, err := framer.ReadFrame()
		if err != nil {
			return false
		}
		if _, ok := frame.(*http2.HeadersFrame); ok {
			begun++
		}
	}
	return true
}

// A client that never reads does not keep others from being answered. It holds no place, neither
// over HTTP/2 with an empty window nor over HTTP/1.1 with a full one. Memory for its answers is
// bounded.
func TestClientsThatDoNotRead(t *testing.T) {
	t.Run("HTTP/2", func(t *testing.T) {
		server := newWholeServer(t, nil)
		for range 2 {
			if !refuseToRead(t, server, 128, "/graphql?"+long, "none") {
				t.Fatal("the server hung up, with little to keep")
			}
		}
		serves(t, server, "beside two such clients")
	})
	t.Run("HTTP/2, more than is kept", func(t *testing.T) {
		server := newWholeServer(t, func(o *httpapi.Options) { o.MaxUnsent = 1 << 20 })
		for range 8 {
			refuseToRead(t, server, 100, "/graphql?"+long, "none")
			serves(t, server, "beside such clients")
		}
	})
	t.Run("HTTP/1.1", func(t *testing.T) {
		server := newWholeServer(t, func(o *httpapi.Options) { o.Concurrency, o.MaxUnsent = httpapi.NewLimiter(2, 2), 40<<20 })
		var clients []*bufio.Reader
		for range 8 {
			clients = append(clients, ask(t, dial(t, server)))
			if got := post(t, server, `{"query": "{ long }"}`); got.status != 200 {
				t.Fatalf("beside %d such clients: %d %s", len(clients), got.status, got.body)
			}
		}
		if err := readAll(clients[0]); err == nil {
			t.Error("the first of more than is kept gets its answer")
		}
		if err := readAll(clients[7]); err != nil {
			t.Errorf("the last of them, which reads now: %v", err)
		}
	})
}

// Answers of operations over sockets count like others, and so do those to events. A client that
// has too many to read gets no more.
func TestSocketsThatDoNotRead(t *testing.T) {
	t.Run("answers, which are there twice", func(t *testing.T) { socketsThatDoNotRead(t, "{ huge }", clients/2) })
	t.Run("events", func(t *testing.T) { socketsThatDoNotRead(t, "subscription huge { stats }", clients-1) })
}

// clients is how many clients have an answer of 8 MB to read.
const clients = 8

// socketsThatDoNotRead has sockets for the answers of an operation, of which so many stay open.
func socketsThatDoNotRead(t *testing.T, huge string, stay int) {
	var subscriptions *httpapi.Subscriptions
	told := &observer{}
	server := newWholeServer(t, subscribing(t, func(o *httpapi.Options) {
		subscriptions, o.MaxUnsent, o.Observers = o.Subscriptions, 60<<20, []httpapi.Observer{told}
		o.Subscriptions.Timing.Stall = time.Hour
	}))
	operation := func(id, query string) string {
		return masked(`{"id":"` + id + `","type":"subscribe","payload":{"query":"` + query + `"}}`)
	}
	for i := range clients {
		conn := dial(t, server)
		must.Do(t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
		must.Get(io.WriteString(conn, upgrade+masked(connecting)+operation("1", huge)))(t)
		answers := bufio.NewReader(conn)
		for text := ""; !strings.HasSuffix(text, `"next"`); {
			text += must.Get(answers.ReadString('"'))(t)
		}
		if i == clients-1 {
			must.Get(io.WriteString(conn, operation("2", "{ echo }")))(t)
			must.Wait(t, "an operation beside an unread answer is refused", func() bool { return told.refused("unread") })
			must.Get(answers.ReadString('2'))(t)
			if got := must.Get(answers.ReadString(':'))(t) + must.Get(answers.ReadString('}'))(t); !strings.Contains(got, "too many answers to read") {
				t.Errorf("an operation beside an unread answer: %s", got)
			}
		}
	}
	must.Wait(t, "the slowest sockets are closed", func() bool { return subscriptions.State().Connections <= stay })
}

// ask asks for a huge answer over HTTP/1.1 and waits until it begins.
func ask(t *testing.T, conn net.Conn) *bufio.Reader {
	t.Helper()
	must.Do(t, conn.(*net.TCPConn).SetReadBuffer(64<<10))
	must.Get(io.WriteString(conn, "GET /graphql?query={huge} HTTP/1.1\r\nHost: localhost\r\n\r\n"))(t)
	reader := bufio.NewReader(conn)
	must.Get(reader.Peek(1))(t)
	return reader
}

// readAll reads an answer to its end, or returns why it has none.
func readAll(from *bufio.Reader) error {
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// pipes is a listener of connections inside the process.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	conn, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (p pipes) Close() error   { return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// A client may take as long as it needs for a large answer while it keeps reading. When it stops,
// the server gives it up.
func TestSlowReaders(t *testing.T) {
	for reason, test := range map[string]struct {
		pause time.Duration
		whole bool
	}{
		"a bad line":    {15 * time.Second, true},
		"one that went": {21 * time.Second, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			listener := make(pipes)
			connections := httpapi.NewConnections(1, httpapi.DefaultMaxArriving)
			server := &http.Server{
				Handler:      httpapi.New(options(func(o *httpapi.Options) { o.Connections = connections })),
				WriteTimeout: 25 * time.Second,
			}
			bound := connections.Bound(server, listener)
			served := make(chan error)
			go func() { served <- server.Serve(bound) }()
			client, conn := net.Pipe()
			listener <- conn
			go func() { _, _ = io.WriteString(client, "GET /graphql?query={huge} HTTP/1.1\r\nHost: localhost\r\n\r\n") }()
			answer, err := http.ReadResponse(bufio.NewReader(client), nil)
			must.Do(t, err)
			for err == nil {
				time.Sleep(test.pause)
				_, err = io.CopyN(io.Discard, answer.Body, 64<<10)
			}
			if whole := errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF); whole != test.whole {
				t.Errorf("%s: %v", reason, err)
			}
			_ = client.Close()
			close(listener)
			must.Do(t, server.Close())
			<-served
		})
	}
}

// Answers use the same buffers one after the other, and never share their bytes.
func TestAnswersDoNotMix(t *testing.T) {
	server := newServer(t, nil)
	var group sync.WaitGroup
	for client := range 8 {
		group.Go(func() {
			for round := range 50 {
				text := strings.Repeat(string(rune('a'+client)), 1+(37*round)%3000)
				got := post(t, server, fmt.Sprintf(`{"query": "query A($s: String) { echo(text: $s) }", "variables": {"s": %q}}`, text))
				if want := fmt.Sprintf(`{"data":{"echo":%q}`, text); !strings.HasPrefix(got.body, want) {
					t.Errorf("asked for %d bytes, got %s", len(text), got.body)
				}
			}
		})
	}
	group.Wait()
}
