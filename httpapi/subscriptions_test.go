package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/quota"
)

// quiet is an empty log of events and an empty table, whose statistics nothing reads.
type quiet struct{}

func (quiet) Want(context.Context, string, time.Duration) error                  { return nil }
func (quiet) Ends(context.Context) (p outbox.Position, err error)                { return p, nil }
func (quiet) Check(context.Context, outbox.Position) error                       { return nil }
func (quiet) Read(context.Context, int, uint64, int) (b outbox.Batch, err error) { return b, nil }
func (quiet) Tail(ctx context.Context, _ outbox.Position, _ func(context.Context, int, outbox.Batch) error, _ func(error)) error {
	<-ctx.Done()
	return nil
}

func (quiet) CommentsByID(context.Context, []comment.ID, bool) (map[comment.ID]comment.Comment, map[comment.ID]error, error) {
	return nil, nil, nil
}

func (quiet) CurrentStatsOf(context.Context, []string) (map[string]comment.Stats, map[string]error, error) {
	return nil, nil, nil
}

// followers answers subscriptions to statistics, and everything else as schema does.
type followers struct {
	*schema
	hub *live.Hub
}

func newFollowers(tb testing.TB) *followers {
	f := &followers{newSchema(), live.New(quiet{}, quiet{}, func(context.Context) (at time.Time, known bool) { return at, false }, slog.New(slog.DiscardHandler))}
	f.parsed = gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { echo(text: String): String, huge: String }
		type Mutation { change: String }
		type Subscription { stats(id: ID): Int }`})
	tb.Cleanup(f.hub.Close)
	return f
}

func (f *followers) Exec(ctx context.Context) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation != ast.Subscription {
		return f.schema.Exec(ctx)
	}
	counts, err := f.hub.Stats(ctx, "p")
	if graphql.GetOperationContext(ctx).OperationName == "resumed" {
		_, err = f.hub.CommentEvents(ctx, "p", comment.Filter{})
	}
	if err != nil {
		graphql.AddError(ctx, err)
		return nil
	}
	switch graphql.GetOperationContext(ctx).Operation.Name {
	case "panics":
		panic("secret inside")
	case "huge":
		return func(context.Context) *graphql.Response {
			<-counts
			return &graphql.Response{Data: json.RawMessage(`{"stats":"` + strings.Repeat("x", 8_000_000) + `"}`)}
		}
	}
	return func(context.Context) *graphql.Response {
		return &graphql.Response{Data: json.RawMessage(`{"stats":` + string(rune('0'+(<-counts).Total())) + `}`)}
	}
}

// subscribing returns options of a server with subscriptions.
func subscribing(tb testing.TB, set func(*httpapi.Options)) func(*httpapi.Options) {
	return func(o *httpapi.Options) {
		o.Schema = newFollowers(tb)
		o.Subscriptions = &httpapi.Subscriptions{
			Max: 20_000, PerClient: 20_000,
			Client:       func(r *http.Request) (quota.Client, bool) { return quota.Customer(r.Header.Get("Authorization")), true },
			TokenRefused: func(context.Context) bool { return false },
		}
		if set != nil {
			set(o)
		}
	}
}

// begun sends a request, and returns its answer up to the first empty line after an event or a
// part, or else all of it.
func begun(t *testing.T, server *httptest.Server, method, accept, query string) (status int, contentType, text string) {
	t.Helper()
	address, body := server.URL+"/graphql", `{"query": "`+query+`"}`
	if method != http.MethodPost {
		address, body = address+"?query="+strings.ReplaceAll(query, " ", "%20"), ""
	}
	request := newRequest(t, method, address, strings.NewReader(body), isJSON, "Accept: "+accept)
	answer := must.Get(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	for lines := bufio.NewReader(answer.Body); !strings.Contains(text, `"stats":0`); {
		line, err := lines.ReadString('\n')
		text += line
		if err == io.EOF {
			break
		}
		if strings.Contains(line, "payload") {
			break
		}
	}
	return answer.StatusCode, answer.Header.Get("Content-Type"), text
}

// A subscription is answered by the stream that its client accepts. A query stays plain JSON, also
// if the client accepts streams too.
func TestWaysToSubscribe(t *testing.T) {
	const subscription, query = "subscription { stats }", "{ echo }"
	server := newServer(t, subscribing(t, nil))
	events, parts := "text/event-stream; charset=utf-8", `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`
	urql := "application/graphql-response+json, application/graphql+json, application/json, text/event-stream, multipart/mixed"
	kotlin := "multipart/mixed;subscriptionSpec=1.0, multipart/mixed;deferSpec=20220824, application/graphql-response+json, application/json"
	for _, row := range []struct {
		method, accept, query string
		status                int
		contentType, has      string
	}{
		{"POST", "text/event-stream", subscription, 200, events, `event: next` + "\n" + `data: {"data":{"stats":0}}`},
		{"GET", "text/event-stream", subscription, 200, events, `"stats":0`},
		{"POST", urql, subscription, 200, events, `"stats":0`},
		{"POST", urql, query, 200, "application/graphql-response+json; charset=utf-8", `{"data":{"echo"`},
		{"POST", "multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json", subscription, 200, parts, ""},
		{"POST", kotlin, query, 200, "application/graphql-response+json; charset=utf-8", `{"data":{"echo"`},
		{"POST", "text/event-stream", query, 200, events, `event: complete`},
		{"POST", "text/event-stream", "{ wrong }", 200, events, `GRAPHQL_VALIDATION_FAILED`},
		{"POST", "application/json", subscription, 406, "application/json; charset=utf-8", "graphql-transport-ws"},
		{"GET", "application/json", subscription, 406, "application/json; charset=utf-8", "SUBSCRIPTION_NEEDS_STREAM"},
		{"POST", "application/json", "subscription { wrong }", 200, "application/json; charset=utf-8", "GRAPHQL_VALIDATION_FAILED"},
		{"GET", "text/event-stream", "mutation { change }", 405, "application/json; charset=utf-8", "METHOD_NOT_ALLOWED"},
	} {
		status, contentType, text := begun(t, server, row.method, row.accept, row.query)
		if status != row.status || contentType != row.contentType || !strings.Contains(text, row.has) {
			t.Errorf("%s %q of %s: %d %s %s", row.method, row.query, row.accept, status, contentType, text)
		}
	}
	without := newServer(t, func(o *httpapi.Options) { o.Schema = newFollowers(t) })
	for _, method := range []string{"GET", "POST"} {
		for _, accept := range []string{"application/json", "text/event-stream"} {
			if status, _, text := begun(t, without, method, accept, subscription); status != 404 || !strings.Contains(text, "--max-subscriptions") {
				t.Errorf("without subscriptions: %d %s", status, text)
			}
		}
	}
}

// A HEAD of a subscription has the header of its stream, and ends. Otherwise its connection would
// be of no more use.
func TestHeadOfASubscription(t *testing.T) {
	for _, accept := range []string{"text/event-stream", "multipart/mixed;subscriptionSpec=1.0"} {
		var subscriptions *httpapi.Subscriptions
		server := newServer(t, subscribing(t, func(o *httpapi.Options) { subscriptions = o.Subscriptions }))
		_, want, _ := begun(t, server, "GET", accept, "subscription { stats }")
		if status, got, _ := begun(t, server, "HEAD", accept, "subscription { stats }"); status != 200 || got != want {
			t.Errorf("%s: %d %s, want 200 %s", accept, status, got, want)
		}
		must.Wait(t, "the stream of "+accept+" ends", func() bool { return subscriptions.State().Connections == 0 })
	}
}

// dialled opens a socket, and returns the status of the answer.
func dialled(t *testing.T, server *httptest.Server, header http.Header) (conn *websocket.Conn, status int) {
	t.Helper()
	conn, answer, err := websocket.Dial(t.Context(), server.URL+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: header})
	if answer == nil {
		t.Fatal(err)
	}
	if answer.Body != nil {
		_ = answer.Body.Close()
	}
	if err == nil {
		t.Cleanup(func() { _ = conn.CloseNow() })
	}
	return conn, answer.StatusCode
}

// exchange sends messages and returns the last of the given number of answers.
func exchange(t *testing.T, conn *websocket.Conn, messages ...string) (last string) {
	t.Helper()
	for _, text := range messages {
		must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
		_, answer, err := conn.Read(t.Context())
		must.Do(t, err)
		last = string(answer)
	}
	return last
}

const connecting = `{"type":"connection_init"}`

// Operations of all kinds pass over a socket through the same checks as by POST.
func TestSocketOperations(t *testing.T) {
	server := newServer(t, subscribing(t, nil))
	for payload, want := range map[string]string{
		`{"query":"subscription { stats }"}`:      `{"id":"1","type":"next","payload":{"data":{"stats":0}}}`,
		`{"query":"query named { echo }"}`:        `{"id":"1","type":"next","payload":{"data":{"echo":"named"}}}`,
		`{"query":"mutation named { change }"}`:   `{"id":"1","type":"next","payload":{"data":{"change":"named"}}}`,
		`{"query":"{ wrong }"}`:                   `{"id":"1","type":"error","payload":[{"message":"Cannot query field \"wrong\" on type \"Query\".`,
		`{}`:                                      `{"id":"1","type":"error","payload":[{"message":"there is no operation`,
		`{"query":"{ echo }","query":"{ echo }"}`: `{"id":"1","type":"error","payload":[{"message":"\"query\" is given more than once`,
		`{"query":"subscription { stats }","extensions":{"position":1}}`: `{"id":"1","type":"error","payload":[{"message":"\"extensions.position\" must be a string"`,
	} {
		conn, _ := dialled(t, server, nil)
		if got := exchange(t, conn, connecting, `{"id":"1","type":"subscribe","payload":`+payload+`}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", payload, got)
		}
	}
}

// Operations and subscriptions are found by their hashes over a socket and for a stream of events,
// as by POST.
func TestHashesOfSubscriptions(t *testing.T) {
	const subscription, query = "subscription { stats }", "query named { echo }"
	server := newServer(t, subscribing(t, func(o *httpapi.Options) { o.Automatic = httpapi.NewAutomaticQueries(1<<20, nil) }))
	conn, _ := dialled(t, server, nil)
	exchange(t, conn, connecting)
	socket := func(id, payload string) string {
		return exchange(t, conn, `{"id":"`+id+`","type":"subscribe","payload":`+payload+`}`)
	}
	if got := socket("1", `{"extensions":`+hashed(subscription)+`}`); !strings.Contains(got, "PersistedQueryNotFound") {
		t.Error(got)
	}
	if got := socket("2", `{"query":"`+subscription+`","extensions":`+hashed(subscription)+`}`); !strings.Contains(got, `{"data":{"stats":0}}`) {
		t.Error(got)
	}
	if got := socket("3", `{"extensions":`+hashed(subscription)+`}`); !strings.Contains(got, `{"data":{"stats":0}}`) {
		t.Error(got)
	}
	if got := socket("4", `{"query":"`+query+`","extensions":`+hashed(query)+`}`); !strings.Contains(got, `{"data":{"echo":"named"}}`) {
		t.Error(got)
	}
	if got := post(t, server, `{"extensions":`+hashed(query)+`}`); !strings.Contains(got.body, `"named"`) {
		t.Error(got.body)
	}
	answer := must.Get(http.DefaultClient.Do(newRequest(t, "GET", server.URL+"/graphql?extensions="+url.QueryEscape(hashed(subscription)), nil, "Accept: text/event-stream")))(t)
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); !strings.Contains(lines.Text(), `"stats":0`); {
		if !lines.Scan() {
			t.Fatalf("%d: the stream ends", answer.StatusCode)
		}
	}
}

// The position in a request counts before that in its header, also if it is empty: then the client
// wants events from now on.
func TestWhichPositionCounts(t *testing.T) {
	const wrong = "no position"
	server := newServer(t, subscribing(t, nil))
	for _, row := range []struct {
		extensions, header string
		refused            bool
	}{
		{`{}`, "", false},
		{`{}`, wrong, true},
		{`{"position": null}`, wrong, true},
		{`{"position": ""}`, wrong, false},
		{`{"position": "0.0.0.0"}`, wrong, false},
		{`{"position": "` + wrong + `"}`, "0.0.0.0", true},
	} {
		request := newRequest(t, "POST", server.URL+"/graphql", strings.NewReader(`{"query":"subscription resumed { stats }","operationName":"resumed","extensions":`+row.extensions+`}`),
			isJSON, "Accept: text/event-stream", "Last-Event-ID: "+row.header)
		answer := must.Get(http.DefaultClient.Do(request))(t)
		begins := must.Get(bufio.NewReader(answer.Body).ReadString('\n'))(t)
		must.Do(t, answer.Body.Close())
		if begun := strings.HasPrefix(begins, "id: "); begun == row.refused {
			t.Errorf("%s, header %q: %s", row.extensions, row.header, begins)
		}
	}
}

// What a client sends beside its subscription is not kept while that lasts.
func TestWhatIsBesideASubscriptionIsNotKept(t *testing.T) {
	const subscriptions, most = 20, 200 << 10 // bytes for each, also of this client
	beside := `{"query":"subscription { stats }","extensions":{"large":[` + strings.Repeat(`{"a":0},`, 7500) + `0]}}`
	server := newServer(t, subscribing(t, nil))
	for transport, open := range map[string]func(){
		"sockets": func() {
			conn, _ := dialled(t, server, nil)
			exchange(t, conn, connecting, `{"id":"1","type":"subscribe","payload":`+beside+`}`)
		},
		"events": func() {
			answer := must.Get(http.DefaultClient.Do(newRequest(t, "POST", server.URL+"/graphql", strings.NewReader(beside), isJSON, "Accept: text/event-stream")))(t)
			t.Cleanup(func() { _ = answer.Body.Close() })
			must.Get(answer.Body.Read(make([]byte, 1)))(t)
		},
	} {
		before := memory()
		for range subscriptions {
			open()
		}
		if each := (memory() - before) / subscriptions; each > most {
			t.Errorf("%s: each takes %d bytes", transport, each)
		}
	}
}

// A panic about a token or an operation costs only these, as over HTTP, not the process.
func TestPanicsOverSockets(t *testing.T) {
	server := newServer(t, subscribing(t, func(o *httpapi.Options) {
		o.Authenticate = func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get("Authorization") == "bad" || r.ContentLength > 0 {
					panic("secret inside")
				}
				next.ServeHTTP(w, r)
			})
		}
	}))
	conn, _ := dialled(t, server, nil)
	got := exchange(t, conn, connecting, `{"id":"1","type":"subscribe","payload":{"query":"{ echo }"}}`)
	if want := `{"id":"1","type":"error","payload":[{"message":"something went wrong","extensions":{"code":"INTERNAL"}}]}`; got != want {
		t.Error(got)
	}
	other, _ := dialled(t, server, nil)
	must.Do(t, other.Write(t.Context(), websocket.MessageText, []byte(`{"type":"connection_init","payload":{"authorization":"bad"}}`)))
	if _, text, err := other.Read(t.Context()); websocket.CloseStatus(err) != 4403 {
		t.Errorf("%s %v", text, err)
	}
	if got := exchange(t, conn, `{"type":"ping"}`); got != `{"type":"pong"}` {
		t.Error(got)
	}
}

// Pages of other sites open no sockets unless their origin is allowed: browsers send no preflight
// for such a request.
func TestSocketsOfOtherSites(t *testing.T) {
	server := newServer(t, subscribing(t, func(o *httpapi.Options) { o.Origins = []httpapi.Origin{"https://shop.example"} }))
	for origin, want := range map[string]int{"": 101, server.URL: 101, "https://shop.example": 101, "https://evil.example": 403, "null": 403} {
		header := http.Header{}
		if origin != "" {
			header.Set("Origin", origin)
		}
		if _, status := dialled(t, server, header); status != want {
			t.Errorf("a page of %q gets %d", origin, status)
		}
	}
	if _, status := dialled(t, newServer(t, func(o *httpapi.Options) { o.Schema = newFollowers(t) }), nil); status != 404 {
		t.Errorf("without subscriptions: %d", status)
	}
}

// Clients that prefer HTTP/2 are answered in their protocol, as by any server.
func TestOtherUpgradesAreIgnored(t *testing.T) {
	for _, server := range []*httptest.Server{newServer(t, nil), newServer(t, subscribing(t, nil))} {
		got := post(t, server, `{"query": "{ echo(text: \"x\") }"}`, "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
		if got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// A client whose proxy drops the header Upgrade is told that, and not to send a query.
func TestUpgradeThatAProxyDrops(t *testing.T) {
	for _, server := range []*httptest.Server{newServer(t, nil), newServer(t, subscribing(t, nil))} {
		got := send(t, "GET", server.URL+"/graphql", "", "Connection: close", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")
		if got.status != 400 || got.code(t) != "BAD_REQUEST" || !strings.Contains(got.body, "Upgrade") {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
}

// Subscriptions and sockets are limited per client and in all. When some end, others may begin. One
// that panics has ended.
func TestLimitsOfSubscriptions(t *testing.T) {
	server := newServer(t, subscribing(t, func(o *httpapi.Options) { o.Subscriptions.Max, o.Subscriptions.PerClient = 3, 2 }))
	of := func(client string) http.Header { return http.Header{"Authorization": {client}} }
	subscribe := func(id string) string {
		return `{"id":"` + id + `","type":"subscribe","payload":{"query":"subscription { stats }"}}`
	}
	first, _ := dialled(t, server, of("a"))
	exchange(t, first, connecting, strings.Replace(subscribe("0"), "subscription", "subscription panics", 1))
	_, _, err := first.Read(t.Context()) // its end
	must.Do(t, err)
	exchange(t, first, subscribe("1"))
	if got := exchange(t, first, subscribe("2")); !strings.Contains(got, `"next"`) {
		t.Error(got)
	}
	if got := exchange(t, first, subscribe("3")); !strings.Contains(got, `"type":"error"`) || !strings.Contains(got, "this client has reached its limit of 2 subscriptions") {
		t.Error(got)
	}
	second, _ := dialled(t, server, of("a"))
	if _, status := dialled(t, server, of("a")); status != 429 {
		t.Errorf("a third socket of a client: %d", status)
	}
	third, _ := dialled(t, server, of("b"))
	if _, status := dialled(t, server, of("c")); status != 503 {
		t.Errorf("a fourth socket: %d", status)
	}
	exchange(t, third, connecting, subscribe("1"))
	if got := exchange(t, third, subscribe("2")); !strings.Contains(got, "this server has reached its limit of subscriptions, which is 3") {
		t.Error(got)
	}
	_ = second.CloseNow()
	_ = first.CloseNow()
	for got := ""; !strings.Contains(got, `"next"`); { // until the server notices the end
		got = exchange(t, third, subscribe("2"))
	}
}

// A stream over HTTP ends when the token of its request expires.
func TestStreamsEndWithTheirToken(t *testing.T) {
	var expired atomic.Bool
	server := newServer(t, subscribing(t, func(o *httpapi.Options) {
		o.Subscriptions.TokenRefused = func(context.Context) bool { return expired.Load() }
		o.Subscriptions.Timing.Heartbeat = time.Millisecond
	}))
	request := newPost(t, server, strings.NewReader(`{"query": "subscription { stats }"}`), "Accept: text/event-stream")
	answer := must.Get(http.DefaultClient.Do(request))(t)
	defer answer.Body.Close()
	expired.Store(true)
	if text, err := io.ReadAll(answer.Body); err != nil || !strings.Contains(string(text), "UNAUTHENTICATED") {
		t.Error(string(text), err)
	}
}

// The memory of an idle subscriber, with its connection, its timers and its goroutines. The clients
// are a process of their own.
//
//	go test ./httpapi -run - -bench IdleSubscribers -benchtime 10000x
func BenchmarkIdleSubscribers(b *testing.B) {
	server := httptest.NewServer(httpapi.New(options(subscribing(b, func(o *httpapi.Options) {
		o.Subscriptions.Timing.Heartbeat = time.Hour // the clients read nothing, so they answer no ping
	}))))
	b.Cleanup(server.Close)
	more := subscribers(b, server.Listener.Addr().String())
	before, n := memory(), 0
	for b.Loop() {
		more()
		n++
	}
	b.ReportMetric(float64(memory()-before)/float64(n), "B/subscriber")
	b.ReportMetric(float64(runtime.NumGoroutine())/float64(n), "goroutines/subscriber")
	b.ReportMetric(resident(b), "MB-resident")
}

// subscribers starts a process that subscribes once for each call.
func subscribers(b *testing.B, address string) (more func()) {
	b.Helper()
	process := exec.CommandContext(b.Context(), os.Args[0])
	process.Env = append(os.Environ(), subscribeTo+"="+address)
	process.Stderr = os.Stderr
	ask := must.Get(process.StdinPipe())(b)
	hear, err := process.StdoutPipe()
	if err == nil {
		err = process.Start()
	}
	must.Do(b, err)
	b.Cleanup(func() {
		_ = ask.Close()
		_ = process.Wait()
	})
	answer := make([]byte, 1)
	return func() {
		must.Get(ask.Write([]byte{'+'}))(b)
		must.Get(io.ReadFull(hear, answer))(b)
	}
}

// subscribeTo is the environment variable that makes a process of subscribers.
const subscribeTo = "TALKBACK_TEST_SUBSCRIBE_TO"

func TestMain(m *testing.M) {
	address := os.Getenv(subscribeTo)
	if address == "" {
		os.Exit(m.Run())
	}
	var open []net.Conn
	for ask := make([]byte, 1); ; {
		if _, err := io.ReadFull(os.Stdin, ask); err != nil {
			os.Exit(len(open) >> 30) // reachable until here, so they are not collected
		}
		open = append(open, subscribed(address))
		_, _ = os.Stdout.Write(ask)
	}
}

// upgrade is a request for a socket.
const upgrade = "GET /graphql HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
	"Sec-WebSocket-Protocol: graphql-transport-ws\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"

// masked returns a short message of a client, with a mask of zeros.
func masked(text string) string {
	return string([]byte{0x81, 0x80 | byte(len(text)), 0, 0, 0, 0}) + text
}

// subscribed is a socket with a subscription, in as few bytes as possible.
func subscribed(address string) net.Conn {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		panic(err)
	}
	read := make([]byte, 4096)
	send := func(text, await string) {
		_, _ = io.WriteString(conn, text)
		for got := ""; !strings.Contains(got, await); {
			n, err := conn.Read(read)
			if err != nil {
				panic(err)
			}
			got += string(read[:n])
		}
	}
	send(upgrade, "\r\n\r\n")
	send(masked(connecting), "connection_ack")
	send(masked(`{"id":"1","type":"subscribe","payload":{"query":"subscription { stats }"}}`), `"next"`)
	return conn
}

// resident returns the resident memory of the process in MB, or 0 where the system does not report
// it.
func resident(b *testing.B) (mb float64) {
	status, _ := os.ReadFile("/proc/self/status") // Linux has it
	for line := range strings.Lines(string(status)) {
		if text, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			must.Get(fmt.Sscan(text, &mb))(b)
		}
	}
	return mb * 1024 / 1e6 // /proc reports KiB
}

// memory returns the size of the process's heap and stacks.
func memory() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // stacks shrink, and pools are emptied
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
