package httpapi_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/concurrency"
)

// patient is a schema whose operations run until their context ends, and tell why it did.
type patient struct {
	*schema
	began chan struct{}
	ended chan error
}

// Exec implements graphql.ExecutableSchema.
func (p patient) Exec(ctx context.Context) graphql.ResponseHandler {
	return func(context.Context) *graphql.Response {
		p.began <- struct{}{}
		<-ctx.Done()
		p.ended <- ctx.Err()
		return &graphql.Response{Data: []byte("null")}
	}
}

const (
	head      = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	echo      = `{"query": "{ echo }"}`
	announced = head + "Content-Length: 21\r\n\r\n" + echo
	inChunks  = head + "Transfer-Encoding: chunked\r\n\r\n15\r\n" + echo + "\r\n0\r\n\r\n"
	byGET     = "GET /graphql?query={echo} HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// When a client hangs up, what its request does ends, however it was sent.
func TestClientHangsUp(t *testing.T) {
	s := patient{newSchema(), make(chan struct{}), make(chan error)}
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema = s })
	for name, request := range map[string]string{"announced": announced, "in chunks": inChunks, "GET": byGET} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, server)
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			<-s.began
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-s.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the operation ended with %v", err)
			}
		})
	}
}

// A client that hangs up while it waits for its turn leaves the queue before its turn is given up.
func TestClientHangsUpInTheQueue(t *testing.T) {
	s, limiter := newSchema(), concurrency.New(1, 1)
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema, o.Concurrency = s, limiter })
	if _, err := io.WriteString(dial(t, server), strings.Replace(announced, "echo }", "waits}", 1)); err != nil {
		t.Fatal(err)
	}
	<-s.entered
	defer close(s.released)
	for limiter.State().Gone == 0 { // on a busy machine, its time in the queue may be over before
		waiting := dial(t, server)
		if _, err := io.WriteString(waiting, announced); err != nil {
			t.Fatal(err)
		}
		for before := limiter.State().Waited; limiter.State().Queued == 0 && limiter.State().Waited == before; {
			runtime.Gosched()
		}
		if err := waiting.Close(); err != nil {
			t.Fatal(err)
		}
		for limiter.State().Queued > 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// pieces is a listener whose connections hand on what arrives in pieces of so many bytes.
type pieces struct {
	net.Listener
	size int
}

// Accept implements [net.Listener].
func (p pieces) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return piecewise{conn.(*net.TCPConn), p.size}, nil
}

type piecewise struct {
	*net.TCPConn
	size int
}

// Read implements [net.Conn].
func (p piecewise) Read(to []byte) (int, error) { return p.TCPConn.Read(to[:min(len(to), p.size)]) }

// Connections stay usable in whatever pieces requests arrive. net/http's buffer holds 4096 bytes:
// after 4095 of a head, it asks for a single one.
func TestRequestsInPieces(t *testing.T) {
	long := strings.Replace(announced, "Host:", "X-Filler: "+strings.Repeat("x", 5000)+"\r\nHost:", 1)
	requests := []string{announced, long, inChunks, byGET, long, announced}
	for _, size := range []int{1, 2, 7, 4095, 1 << 20} {
		t.Run(fmt.Sprintf("of %d bytes", size), func(t *testing.T) {
			connections := httpapi.NewConnections(0, 0)
			server := httptest.NewUnstartedServer(httpapi.New(options(func(o *httpapi.Options) { o.Connections = connections })))
			server.Listener = connections.Bound(server.Config, pieces{server.Listener, size})
			server.Start()
			t.Cleanup(server.Close)
			conn := dial(t, server)
			answers := bufio.NewReader(conn)
			send := func(requests ...string) {
				t.Helper()
				if _, err := io.WriteString(conn, strings.Join(requests, "")); err != nil {
					t.Fatal(err)
				}
				for i := range requests {
					if err := readEcho(answers); err != nil {
						t.Fatalf("answer %d of %d: %v", i+1, len(requests), err)
					}
				}
			}
			for _, request := range requests {
				send(request)
			}
			send(requests...) // before the first is answered
		})
	}
}

func readEcho(answers *bufio.Reader) error {
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || !strings.Contains(string(body), `"echo"`)) {
		err = fmt.Errorf("%s: %s", answer.Status, body)
	}
	return err
}
