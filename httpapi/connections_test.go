package httpapi_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/quota"
)

// When more bytes arrive than allowed, the clients that have sent most for longest are told to
// retry, over both versions of HTTP. All other clients are answered.
func TestTooMuchArrives(t *testing.T) {
	for _, unencrypted2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", unencrypted2), func(t *testing.T) {
			server := newBoundServer(t, httpapi.NewConnections(100, 300_000), nil)
			client := &http.Transport{Protocols: &http.Protocols{}}
			client.Protocols.SetHTTP1(!unencrypted2)
			client.Protocols.SetUnencryptedHTTP2(unencrypted2)
			t.Cleanup(client.CloseIdleConnections)
			answers := make(chan reply, 5)
			var bodies []*io.PipeWriter
			for range cap(answers) { // each takes some 80 KB
				body, send := io.Pipe()
				bodies = append(bodies, send)
				request := newPost(t, server, body)
				go func() {
					answer, err := client.RoundTrip(request)
					if err != nil { // over HTTP/1.1 the server may hang up while the client still sends
						answers <- reply{}
						return
					}
					_ = answer.Body.Close()
					answers <- reply{status: answer.StatusCode, header: answer.Header}
				}()
				_, err := io.WriteString(send, strings.Repeat(" ", 60_000))
				givenUp := unencrypted2 && errors.Is(err, io.ErrClosedPipe) // all share one connection
				if err != nil && !givenUp {
					t.Fatal(err)
				}
			}
			if got := <-answers; got.status != 0 && (got.status != 503 || got.header.Get("Retry-After") != "1") || got.status == 0 && unencrypted2 {
				t.Errorf("a slow sender gets %d, want 503 and when to send again", got.status)
			}
			serves(t, server, "beside slow senders")
			for _, send := range bodies {
				go func() { // the dropped ones read nothing any more
					_, _ = io.WriteString(send, `{"query": "{ echo }"}`)
					_ = send.Close()
				}()
			}
			served := 0
			for range cap(answers) - 1 {
				if got := <-answers; got.status == 200 {
					served++
				}
			}
			if !unencrypted2 && served < 2 { // over HTTP/2 all share one connection
				t.Errorf("%d of the others are answered when they end, want at least 2", served)
			}
		})
	}
}

// Unfinished heads count too: their connections are closed.
func TestTooManyHeads(t *testing.T) {
	server := newBoundServer(t, httpapi.NewConnections(100, 400_000), nil)
	closed := make(chan error)
	for range 10 {
		conn := dial(t, server)
		must.Get(io.WriteString(conn, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: "+strings.Repeat("x", 4000)))(t)
		go func() {
			_, err := conn.Read(make([]byte, 1)) // ends at the latest with the test
			select {
			case closed <- err:
			case <-t.Context().Done():
			}
		}()
	}
	for range 4 { // six are kept
		if err := <-closed; err == nil {
			t.Error("a head that does not end is answered")
		}
	}
	serves(t, server, "beside such clients")
}

// A request with many header fields, each of which takes memory beside its bytes, is refused. The
// rest of it is not waited for.
func TestManyHeaderFields(t *testing.T) {
	server := newBoundServer(t, httpapi.NewConnections(0, 0), nil)
	for fields, status := range map[int]int{98: http.StatusOK, 99: http.StatusRequestHeaderFieldsTooLarge} { // beside two others
		conn := dial(t, server)
		must.Do(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
		must.Get(io.WriteString(conn, head+strings.Repeat("A:\r\n", fields)+"Content-Length: 21\r\n\r\n"))(t)
		if status == http.StatusOK {
			must.Get(io.WriteString(conn, echo))(t)
		}
		answers := bufio.NewReader(conn)
		if got := must.Get(http.ReadResponse(answers, nil))(t); got.StatusCode != status {
			t.Errorf("%d fields: %s", 2+fields, got.Status)
		} else if _, err := io.Copy(io.Discard, got.Body); err != nil {
			t.Error(err)
		}
		if status == http.StatusOK {
			continue
		}
		if _, err := answers.ReadByte(); errors.Is(err, os.ErrDeadlineExceeded) {
			t.Error("the server waits for the rest of a request that it has refused")
		}
	}
	for _, path := range []string{"/healthz", "/nothing", "/graphql?query={echo}"} {
		if got := asker(t, server)("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("A:\r\n", 101) + "\r\n"); got.status != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// When the maximum of connections is reached, a connection whose request is being processed stays
// open, and others are closed.
func TestRoomForConnections(t *testing.T) {
	s := newSchema()
	server := newBoundServer(t, httpapi.NewConnections(3, 0), func(o *httpapi.Options) { o.Schema = s })
	worked := dial(t, server)
	must.Get(io.WriteString(worked, "GET /graphql?query={waits} HTTP/1.1\r\nHost: localhost\r\n\r\n"))(t)
	<-s.entered
	silent := dial(t, server)
	for range 10 {
		if err := readAll(ask(t, dial(t, server))); err != nil {
			t.Errorf("a new one: %v", err)
		}
	}
	if _, err := silent.Read(make([]byte, 1)); err == nil {
		t.Error("there is something to read where the connection should be closed")
	}
	close(s.released)
	if err := readAll(bufio.NewReader(worked)); err != nil {
		t.Errorf("the one that was worked for: %v", err)
	}
}

// Refusals and pages that clients do not read are counted like other answers.
func TestRefusalsAndPagesAreCounted(t *testing.T) {
	for path, reason := range map[string]string{
		"/graphql": "refusals", "/playground": "pages", "/healthz": "health",
	} {
		server := newWholeServer(t, func(o *httpapi.Options) { o.MaxUnsent = 100_000 })
		if refuseToRead(t, server, 50, path, "cross-site") {
			t.Errorf("%s: 50 unread ones are kept, which exceeds the bound", reason)
		}
		serves(t, server, "beside them")
	}
}

// An unread answer counts with the head of its request, which is kept until it is sent.
func TestHeadsOfUnreadAnswersAreCounted(t *testing.T) {
	for _, path := range []string{"/graphql?query={echo}", "/healthz?"} {
		server := newWholeServer(t, func(o *httpapi.Options) { o.MaxUnsent = 60 * 20_000 })
		if !refuseToRead(t, server, 50, path, "none") {
			t.Errorf("%s: 50 unread answers are not kept, which the bound allows", path)
		}
		if refuseToRead(t, server, 50, path+"&x="+strings.Repeat("x", 15_000), "none") {
			t.Errorf("%s: 50 with long heads are kept, which exceeds the bound", path)
		}
	}
}

// A request that is refused before its body is read counts with its head, until the body has
// arrived.
func TestHeadsOfUnreadBodiesAreCounted(t *testing.T) {
	for path, fields := range map[string]string{
		"/healthz": "", "/nothing": "Expect: 100-continue\r\n", "/graphql": "Sec-Fetch-Site: cross-site\r\n",
		"/graphql?large": "Content-Type: application/json\r\n", "/graphql?socket": "Connection: Upgrade\r\nUpgrade: websocket\r\n",
	} {
		server := newWholeServer(t, func(o *httpapi.Options) {
			o.MaxUnsent = 60 * 20_000
			o.Subscriptions = &httpapi.Subscriptions{Client: func(*http.Request) (c quota.Client, bounded bool) { return c, false }}
		})
		ended := make(chan error)
		for range 50 {
			conn := dial(t, server)
			must.Do(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
			must.Get(io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\n"+fields+"X: "+strings.Repeat("x", 15_000)+"\r\nContent-Length: 200000\r\n\r\n"))(t)
			go func() {
				_, err := io.Copy(io.Discard, conn)
				select {
				case ended <- err:
				case <-t.Context().Done():
				}
			}()
		}
		if err := <-ended; errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: 50 with long heads are kept, which exceeds the bound", path)
		}
	}
}

// Each answer over HTTPS tells browsers to use HTTPS only; answers over HTTP do not.
func TestStrictTransportSecurity(t *testing.T) {
	handler := httpapi.New(options(func(o *httpapi.Options) { o.HSTSAge = 3600e9 }))
	for path := range map[string]bool{"/graphql?query={echo}": true, "/healthz": true, "/nothing": true} {
		for _, encrypted := range []bool{false, true} {
			request, want := httptest.NewRequest(http.MethodGet, path, nil), ""
			if encrypted {
				request.TLS, want = &tls.ConnectionState{}, "max-age=3600"
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if got := answer.Header().Get("Strict-Transport-Security"); got != want {
				t.Errorf("%s, TLS %t: %q, want %q", path, encrypted, got, want)
			}
		}
	}
}

// patient is a schema whose operations run until their context ends, and report the cause.
type patient struct {
	*schema
	began chan struct{}
	ended chan error
}

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

// When a client hangs up, the work for its request ends, however it was sent.
func TestClientHangsUp(t *testing.T) {
	s := patient{newSchema(), make(chan struct{}), make(chan error)}
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema = s })
	for name, request := range map[string]string{"announced": announced, "in chunks": inChunks, "GET": byGET} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, server)
			must.Get(io.WriteString(conn, request))(t)
			<-s.began
			must.Do(t, conn.Close())
			if err := <-s.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the operation ended with %v", err)
			}
		})
	}
}

// A client that hangs up while its request is queued leaves the queue before the queue time is
// over.
func TestClientHangsUpInTheQueue(t *testing.T) {
	s, limiter := newSchema(), httpapi.NewLimiter(1, 1)
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema, o.Concurrency = s, limiter })
	must.Get(io.WriteString(dial(t, server), strings.Replace(announced, "echo }", "waits}", 1)))(t)
	<-s.entered
	defer close(s.released)
	for limiter.State().Gone == 0 { // on a busy machine, its time in the queue may be over before
		waiting := dial(t, server)
		must.Get(io.WriteString(waiting, announced))(t)
		for before := limiter.State().Waited; limiter.State().Queued == 0 && limiter.State().Waited == before; {
			runtime.Gosched()
		}
		must.Do(t, waiting.Close())
		must.Wait(t, "it has left the queue", func() bool { return limiter.State().Queued == 0 })
	}
}
