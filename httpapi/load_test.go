package httpapi_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/usage"
)

// When all places are taken, further requests are refused at once and health checks are still
// answered. A place that becomes free is used again.
func TestInFlight(t *testing.T) {
	s := newSchema()
	server := newServer(t, func(o *httpapi.Options) { o.Schema, o.Concurrency = s, httpapi.NewLimiter(1, 1) })
	first := make(chan reply, 1)
	go func() {
		defer close(first)
		first <- post(t, server, `{"query": "{ waits }"}`)
	}()
	<-s.entered

	for _, got := range []reply{post(t, server, `{"query": "{ echo }"}`), get(t, server, "query={echo}")} {
		if got.status != 503 || got.header.Get("Retry-After") != "1" || got.code(t) != "OVERLOADED" {
			t.Errorf("%d, Retry-After %q, %s; want 503 and when to come again", got.status, got.header.Get("Retry-After"), got.body)
		}
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		if got := send(t, "GET", server.URL+path, ""); got.status != 200 {
			t.Errorf("%s: %d while all places are taken", path, got.status)
		}
	}
	close(s.released)
	if got := <-first; got.status != 200 {
		t.Errorf("the one in flight: %d %s", got.status, got.body)
	}
	// The place is given back behind the answer, so the first to ask again may come too early.
	for tries := 0; post(t, server, `{"query": "{ echo }"}`).status != 200; tries++ {
		if tries == 1000 {
			t.Fatal("the free place is not used again")
		}
	}
}

// While requests are refused, a request is refused before any other check. Its connection stays
// usable, however the request was sent, and pages of other origins may read the reason.
func TestRefusedAtOnce(t *testing.T) {
	full, release := httpapi.FullLimiter(t)
	told := &observer{}
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) {
		o.Concurrency, o.MaxBody = full, 500
		o.Origins, o.Observers = []httpapi.Origin{"https://shop.example"}, []httpapi.Observer{told}
	})
	for name, request := range map[string]string{
		"announced":        announced,
		"in chunks":        inChunks,
		"by GET":           byGET,
		"too large":        head + "Content-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000),
		"of another type":  strings.Replace(announced, "application/json", "text/plain", 1),
		"of another site":  strings.Replace(byGET, "\r\n", "\r\nOrigin: https://other.example\r\n", 1),
		"of a shop's page": strings.Replace(announced, "\r\n", "\r\nOrigin: https://shop.example\r\n", 1),
	} {
		ask := asker(t, server)
		got := ask(request)
		allowed := got.header.Get("Access-Control-Allow-Origin") != ""
		if got.status != 503 || got.header.Get("Retry-After") != "1" || got.code(t) != "OVERLOADED" || allowed != strings.Contains(request, "shop.example") {
			t.Errorf("%s: %d %v %s", name, got.status, got.header, got.body)
		}
		forwarded := strings.Replace(announced, "\r\n", "\r\nX-Forwarded-For: 192.0.2.1\r\n", 1)
		if next := ask(forwarded); next.status != 503 { // by now the observer has recorded the first one
			t.Errorf("after %s: %d %s", name, next.status, next.body)
		}
		if first := told.of(got.header.Get("X-Request-Id")); first.Outcome != httpapi.OutcomeRefused || first.Refused != "limit" {
			t.Errorf("%s: observed as %+v", name, first)
		}
	}
	ask := asker(t, server)
	ask(announced)
	began := time.Now()
	if got := ask(announced); got.status != 503 || time.Since(began) < 400*time.Millisecond {
		t.Errorf("asked again at once: %d after %v", got.status, time.Since(began))
	}
	release()
	if got := asker(t, server)(announced); got.status != 200 {
		t.Errorf("afterwards: %d %s", got.status, got.body)
	}
}

// asker returns a function that sends requests unchanged over one connection and reads their
// answers.
func asker(t *testing.T, server *httptest.Server) func(request string) reply {
	t.Helper()
	conn := dial(t, server)
	answers := bufio.NewReader(conn)
	return func(request string) reply {
		t.Helper()
		must.Get(io.WriteString(conn, request))(t)
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("%.100q: %v", request, err)
		}
		defer answer.Body.Close()
		text := must.Get(io.ReadAll(answer.Body))(t)
		return reply{status: answer.StatusCode, header: answer.Header, raw: text, body: string(text)}
	}
}

// writing is a schema whose operations write a comment, which takes a while.
type writing struct {
	*schema
	takes time.Duration
}

func (w *writing) Exec(ctx context.Context) graphql.ResponseHandler {
	usage.From(ctx).Write()
	time.Sleep(w.takes)
	return w.schema.Exec(ctx)
}

// Mutations that take longer than usual lower the limit, though they read nothing.
func TestWritesTeach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := httpapi.NewLimiter(1, 20)
		written := &writing{newSchema(), time.Millisecond}
		handler := httpapi.New(options(func(o *httpapi.Options) { o.Schema, o.Concurrency = written, limiter }))
		write := func(times int) (limit int) {
			for range times {
				answer := httptest.NewRecorder()
				handler.ServeHTTP(answer, posted(`{"query": "mutation { change }"}`))
				if answer.Code != http.StatusOK {
					t.Fatalf("%d %s", answer.Code, answer.Body)
				}
			}
			return limiter.State().Limit
		}
		before := write(500)
		written.takes = 100 * time.Millisecond
		if after := write(50); after > before/2 {
			t.Errorf("the limit is %d, and was %d before writes became slow", after, before)
		}
	})
}

// A client that does not finish its body takes no place.
func TestSlowBodiesTakeNoPlace(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.Concurrency = httpapi.NewLimiter(1, 1) })
	body, slow := io.Pipe()
	sent := make(chan reply, 1)
	go func() {
		defer close(sent)
		sent <- do(t, newPost(t, server, body, "Expect: 100-continue"), &http.Transport{ExpectContinueTimeout: time.Minute})
	}()
	// This returns when the client reads, which it does when the server asked for the body.
	must.Get(slow.Write([]byte(`{"query": "{ ec`)))(t)
	serves(t, server, "beside a slow body")
	must.Get(slow.Write([]byte(`ho }"}`)))(t)
	must.Do(t, slow.Close())
	if got := <-sent; got.status != 200 {
		t.Errorf("the slow body: %d %s", got.status, got.body)
	}
}

// unread is a body that fails the test when it is read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("a body whose announced length is too large is sent all the same")
	return 0, io.EOF
}

func TestBodiesTooLargeAreNotSent(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.MaxBody = 100 })
	request := newPost(t, server, unread{t}, "Expect: 100-continue")
	request.ContentLength = 101
	if got := do(t, request, &http.Transport{ExpectContinueTimeout: time.Minute}); got.status != 413 {
		t.Errorf("%d %s, want 413", got.status, got.body)
	}
}

// A client whose timeout passes before the operation begins is told so, and that a retry may help.
func TestTimeIsOver(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.OperationTimeout = time.Nanosecond })
	for accept, status := range map[string]int{plain: 200, graphQL: 503} {
		got := post(t, server, `{"query": "{ echo }"}`, "Accept: "+accept)
		if got.status != status || got.body != `{"errors":[{"message":"context deadline exceeded"}]}` {
			t.Errorf("%s: %d %s, want %d and an error", accept, got.status, got.body, status)
		}
	}
}

// A body that ends early is refused, whether or not its length was announced, even if the part that
// came is an operation.
func TestBodyEndsEarly(t *testing.T) {
	const body = `{"query": "{ echo }"}`
	server := newServer(t, nil)
	for _, sent := range []string{
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body)+1, body),
		fmt.Sprintf("Content-Length: %d\r\n\r\n%s", 5000, body),
		fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(body), body),
	} {
		connection := must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
		defer connection.Close()
		fmt.Fprintf(connection, "POST /graphql HTTP/1.1\r\nHost: shop\r\nContent-Type: application/json\r\n%s", sent)
		must.Do(t, connection.(*net.TCPConn).CloseWrite())
		if got, err := io.ReadAll(connection); err != nil || !strings.HasPrefix(string(got), "HTTP/1.1 400 ") || !strings.Contains(string(got), "ended early") {
			t.Errorf("%q is answered %q, %v", sent, got, err)
		}
	}
}
