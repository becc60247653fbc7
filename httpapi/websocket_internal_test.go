package httpapi

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// answersSource sends what a test puts into it.
type answersSource struct{ answers chan any }

func (s answersSource) Next(ctx context.Context) (streamAnswer, error) {
	var next any
	select {
	case next = <-s.answers: // first, also when the time is over
	default:
		select {
		case next = <-s.answers:
		case <-ctx.Done():
			return streamAnswer{}, ctx.Err()
		}
	}
	if end, ok := next.(*streamEnd); ok {
		return streamAnswer{}, end
	}
	return next.(streamAnswer), nil
}

func (s answersSource) Position() string { return "1.2.3.4" }
func (s answersSource) Close()           {}

// nextAnswer is a source without a position, whose answers come from a function.
type nextAnswer func() streamAnswer

func (n nextAnswer) Next(ctx context.Context) (streamAnswer, error) { return n(), ctx.Err() }
func (nextAnswer) Position() string                                 { return "" }
func (nextAnswer) Close()                                           {}

// endlessAnswer always has an answer.
func endlessAnswer() streamAnswer { return streamAnswer{Data: []byte(`{"a":1}`), Position: "1.2.3.4"} }

// serve serves sockets whose operations are words, which the code below defines.
func serve(t *testing.T, change func(*socket)) (address string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s := &socket{
			run: func(_ context.Context, token string, payload []byte, reply func([]byte)) streamSource {
				switch {
				case strings.Contains(string(payload), "once"):
					reply([]byte(`{"data":{"token":` + strconv.Quote(token) + `}}`))
					return nil
				case strings.Contains(string(payload), "wrong"):
					reply([]byte(`{"errors":[{"message":"no"}]}`))
					return nil
				case strings.Contains(string(payload), "silent"):
					return answersSource{nil}
				case strings.Contains(string(payload), "ends"):
					s := answersSource{make(chan any, 2)}
					s.answers <- streamAnswer{Data: []byte(`{"a":1}`)}
					s.answers <- &streamEnd{Errors: []byte(`[{"message":"too slow"}]`)}
					return s
				}
				return nextAnswer(endlessAnswer)
			},
			check: func(token string) error {
				if token == "bad" {
					return errors.New("the token is not valid")
				}
				return nil
			},
			stopping: t.Context(), closed: func() {}, maxMessage: 1000,
		}
		if change != nil {
			change(s)
		}
		s.serveUpgrade(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// dial opens a socket.
func dial(t *testing.T, address string, protocols ...string) *websocket.Conn {
	t.Helper()
	conn, response, err := websocket.Dial(t.Context(), address, &websocket.DialOptions{Subprotocols: protocols})
	must.Do(t, err)
	if response.Body != nil {
		_ = response.Body.Close()
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return conn
}

const (
	// asking is a request for a socket, and handshake its fields after the host.
	asking    = "GET / HTTP/1.1\r\nHost: h\r\n" + handshake
	handshake = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
		"Sec-WebSocket-Protocol: graphql-ws, " + socketProtocol + "\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n"
	initiate     = `{"type":"connection_init"}`
	acknowledged = `{"type":"connection_ack"}`
)

// The rules of https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md: what a client
// sends, what it receives first, and the close code of its socket, or 0 if it stays open.
func TestProtocol(t *testing.T) {
	address := serve(t, nil)
	for name, row := range map[string]struct {
		send, want []string
		code       websocket.StatusCode
	}{
		"an init with a payload":         {[]string{`{"type":"connection_init","payload":{"a":1}}`}, []string{acknowledged}, 0},
		"a second init":                  {[]string{initiate, initiate}, []string{acknowledged}, 4429},
		"a refused token":                {[]string{`{"type":"connection_init","payload":{"Authorization":"bad"}}`}, nil, 4403},
		"a token":                        {[]string{`{"type":"connection_init","payload":{"authorization":"b"}}`, `{"id":"1","type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"token":"b"}}}`, `{"id":"1","type":"complete"}`}, 0},
		"a token in headers":             {[]string{`{"type":"connection_init","payload":{"headers":{"Authorization":"b"}}}`, `{"id":"1","type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"token":"b"}}}`}, 0},
		"half of a pair beside a token":  {[]string{`{"type":"connection_init","payload":{"authorization":"b","a":"\uD83D"}}`, `{"id":"1","type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"token":"b"}}}`}, 0},
		"two tokens":                     {[]string{`{"type":"connection_init","payload":{"headers":{"authorization":"bad"},"authorization":"b"}}`}, []string{acknowledged}, 0},
		"subscribe before ack":           {[]string{`{"id":"1","type":"subscribe","payload":{"query":"once"}}`}, nil, 4401},
		"ping before ack":                {[]string{`{"type":"ping","payload":{"a":1}}`}, []string{`{"type":"pong","payload":{"a":1}}`}, 0},
		"ping without payload":           {[]string{initiate, `{"type":"ping"}`}, []string{acknowledged, `{"type":"pong"}`}, 0},
		"ping with a null":               {[]string{`{"type":"ping","payload":null}`}, []string{`{"type":"pong"}`}, 0},
		"pong before ack":                {[]string{`{"type":"pong"}`, initiate}, []string{acknowledged}, 0},
		"no JSON":                        {[]string{`{`}, nil, 4400},
		"no object":                      {[]string{`[]`}, nil, 4400},
		"a name in another case":         {[]string{`{"Type":"ping"}`}, nil, 4400},
		"a name twice":                   {[]string{`{"type":"ping","type":"pong"}`}, nil, 4400},
		"a payload twice":                {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"once"},"payload":{"query":"ends"}}`}, []string{acknowledged}, 4400},
		"a name twice in a payload":      {[]string{`{"type":"connection_init","payload":{"Authorization":"a","Authorization":"b"}}`}, nil, 4400},
		"a name twice in an operation":   {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"once","query":"once"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"token":""}}}`}, 0},
		"half of a pair in a payload":    {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"once","variables":{"a":"\uD83D"}}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"token":""}}}`}, 0},
		"half of a pair in an id":        {[]string{initiate, `{"id":"\uD83D","type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged}, 4400},
		"the character of such an id":    {[]string{initiate, `{"id":"\uFFFD","type":"subscribe","payload":{"query":"wrong"}}`}, []string{acknowledged, `{"id":"�","type":"error","payload":[{"message":"no"}]}`}, 0},
		"no type":                        {[]string{`{"id":"1"}`}, nil, 4400},
		"a server's type":                {[]string{initiate, acknowledged}, []string{acknowledged}, 4400},
		"an id that is no text":          {[]string{initiate, `{"id":1,"type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged}, 4400},
		"subscribe without id":           {[]string{initiate, `{"type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged}, 4400},
		"an id that is too long":         {[]string{initiate, `{"id":"` + strings.Repeat("a", 129) + `","type":"subscribe","payload":{"query":"once"}}`}, []string{acknowledged}, 4400},
		"an id that is long":             {[]string{initiate, `{"id":"` + strings.Repeat("a", 128) + `","type":"subscribe","payload":{"query":"wrong"}}`}, []string{acknowledged, `{"id":"` + strings.Repeat("a", 128) + `","type":"error","payload":[{"message":"no"}]}`}, 0},
		"subscribe without payload":      {[]string{initiate, `{"id":"1","type":"subscribe"}`}, []string{acknowledged}, 4400},
		"a payload that is no object":    {[]string{`{"type":"ping","payload":1}`}, nil, 4400},
		"complete without id":            {[]string{initiate, `{"type":"complete"}`}, []string{acknowledged}, 4400},
		"an id twice":                    {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"silent"}}`, `{"id":"1","type":"subscribe","payload":{"query":"silent"}}`}, []string{acknowledged}, 4409},
		"a long id twice":                {[]string{initiate, `{"id":"x` + strings.Repeat("é", 50) + `","type":"subscribe","payload":{"query":"silent"}}`, `{"id":"x` + strings.Repeat("é", 50) + `","type":"subscribe","payload":{"query":"silent"}}`}, []string{acknowledged}, 4409},
		"complete of nothing":            {[]string{initiate, `{"id":"1","type":"complete"}`, `{"type":"ping"}`}, []string{acknowledged, `{"type":"pong"}`}, 0},
		"an id again after complete":     {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"silent"}}`, `{"id":"1","type":"complete"}`, `{"id":"1","type":"subscribe","payload":{"query":"ends"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"a":1}}}`}, 0},
		"an error ends":                  {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"wrong"}}`}, []string{acknowledged, `{"id":"1","type":"error","payload":[{"message":"no"}]}`}, 0},
		"the server ends a source":       {[]string{initiate, `{"id":"1","type":"subscribe","payload":{"query":"ends"}}`}, []string{acknowledged, `{"id":"1","type":"next","payload":{"data":{"a":1}}}`, `{"id":"1","type":"error","payload":[{"message":"too slow"}]}`}, 0},
		"events have a position":         {[]string{initiate, `{"id":"x\"","type":"subscribe","payload":{"query":"all"}}`}, []string{acknowledged, `{"id":"x\"","type":"next","payload":{"data":{"a":1},"extensions":{"position":"1.2.3.4"}}}`}, 0},
		"a message that is too large":    {[]string{initiate, `{"type":"ping","payload":{"a":"` + strings.Repeat("a", 1000) + `"}}`}, []string{acknowledged}, websocket.StatusMessageTooBig},
		"bytes that are no UTF-8 at all": {[]string{"{\"type\":\"ping\",\"payload\":{\"a\":\"\xff\"}}"}, nil, 4400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dial(t, address, socketProtocol)
			for _, text := range row.send {
				must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
			}
			for _, want := range row.want {
				if _, got, err := conn.Read(t.Context()); string(got) != want {
					t.Fatalf("%s instead of %s: %v", got, want, err)
				}
			}
			if row.code == 0 {
				return
			}
			for {
				if _, _, err := conn.Read(t.Context()); err != nil {
					closed, _ := errors.AsType[websocket.CloseError](err)
					if closed.Code != row.code || !utf8.ValidString(closed.Reason) {
						t.Errorf("closed with %d instead of %d: %v", closed.Code, row.code, err)
					}
					return
				}
			}
		})
	}
}

// A client whose message is nested too deep to be read learns why its socket is closed.
func TestDeepMessage(t *testing.T) {
	conn := dial(t, serve(t, func(s *socket) { s.maxMessage = 30_000 }), socketProtocol)
	deep := strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000)
	must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping","payload":{"a":`+deep+`}}`)))
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 4400 || !strings.Contains(err.Error(), "nested") {
		t.Errorf("closed by: %v", err)
	}
}

// A socket is closed when its client speaks another protocol, sends bytes, or never begins; when
// its token expires; and when the server stops.
func TestClosing(t *testing.T) {
	stopped, stop := context.WithCancel(t.Context())
	stop()
	checks := 0
	for name, row := range map[string]struct {
		change    func(*socket)
		protocols []string
		kind      websocket.MessageType
		send      string
		code      websocket.StatusCode
	}{
		"no protocol":      {nil, nil, 0, "", 4406},
		"another protocol": {nil, []string{"graphql-ws"}, 0, "", 4406},
		"bytes":            {nil, []string{socketProtocol}, websocket.MessageBinary, initiate, 4400},
		"no init":          {func(s *socket) { s.timing.Init = time.Millisecond }, []string{socketProtocol}, websocket.MessageText, `{"type":"ping"}`, 4408},
		"stopping":         {func(s *socket) { s.stopping = stopped }, []string{socketProtocol}, 0, "", websocket.StatusGoingAway},
		// graphql-ws gives up after 4401, and after 4403 it connects again, with what connectionParams
		// returns then.
		"a token expires": {func(s *socket) {
			s.timing.Heartbeat = time.Millisecond
			s.check = func(string) (err error) {
				if checks++; checks > 3 { // at its third heartbeat
					err = errors.New("the token is not valid any more")
				}
				return err
			}
		}, []string{"graphql-ws", socketProtocol}, websocket.MessageText, initiate, 4403},
	} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, serve(t, row.change), row.protocols...)
			if row.kind != 0 {
				_ = conn.Write(t.Context(), row.kind, []byte(row.send)) // it may be closed already
			}
			var err error
			for err == nil {
				_, _, err = conn.Read(t.Context())
			}
			if code := websocket.CloseStatus(err); code != row.code {
				t.Errorf("closed with %d instead of %d: %v", code, row.code, err)
			}
		})
	}
}

// Nothing follows the completion that the server sends, and little follows a client's. A client
// that begins too many operations gets an error, and keeps those it has.
func TestOperationsEnd(t *testing.T) {
	conn := dial(t, serve(t, nil), socketProtocol)
	send := func(text string) {
		t.Helper()
		must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(text)))
	}
	read := func() string {
		t.Helper()
		_, text, err := conn.Read(t.Context())
		must.Do(t, err)
		return string(text)
	}
	send(initiate)
	read()
	for range 2 { // the id is free again as soon as the server completes it
		send(`{"id":"1","type":"subscribe","payload":{"query":"once"}}`)
		if next, last := read(), read(); !strings.Contains(next, `"next"`) || last != `{"id":"1","type":"complete"}` {
			t.Fatal(next, last)
		}
	}
	send(`{"id":"1","type":"subscribe","payload":{"query":"all"}}`)
	read()
	send(`{"id":"1","type":"complete"}`)
	send(`{"type":"ping"}`)
	for read() != `{"type":"pong"}` { // messages under way
	}
	for i := range 102 {
		send(`{"id":"` + strconv.Itoa(i) + `","type":"subscribe","payload":{"query":"silent"}}`)
	}
	late := 0
	for refused := 100; refused < 102; {
		switch text := read(); {
		case strings.Contains(text, `"type":"next"`): // one may still have been under way
			if late++; late > 1 {
				t.Fatal("events follow the completion")
			}
		case strings.HasPrefix(text, `{"id":"`+strconv.Itoa(refused)+`","type":"error"`) && strings.Contains(text, "TOO_MANY_SUBSCRIPTIONS"):
			refused++
		default:
			t.Fatal(text)
		}
	}
}

// closing is a source that says when it is closed.
type closing struct {
	streamSource
	closed *atomic.Bool
}

func (c closing) Close() { c.closed.Store(true) }

// The context of an operation ends with it, and its source is closed, while the socket stays open.
func TestOperationsAreForgotten(t *testing.T) {
	contexts, closed := make(chan context.Context, 2), &atomic.Bool{}
	conn := dial(t, serve(t, func(s *socket) {
		run := s.run
		s.run = func(ctx context.Context, token string, payload []byte, reply func([]byte)) streamSource {
			contexts <- ctx
			if source := run(ctx, token, payload, reply); source != nil {
				return closing{source, closed}
			}
			return nil
		}
	}), socketProtocol)
	must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(initiate)))
	for _, word := range []string{"once", "ends"} {
		must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"id":"1","type":"subscribe","payload":{"query":"`+word+`"}}`)))
		must.Wait(t, "an operation begins, also with the id of one that ended", func() bool { return len(contexts) > 0 })
		ctx := <-contexts
		must.Wait(t, "the context of an operation ends", func() bool { return ctx.Err() != nil })
		must.Do(t, conn.Write(t.Context(), websocket.MessageText, []byte(`{"type":"ping"}`)))
		for text := ""; text != `{"type":"pong"}`; {
			_, message, err := conn.Read(t.Context())
			must.Do(t, err)
			text = string(message)
		}
	}
	must.Wait(t, "the source is closed", closed.Load)
}

// followed is a context that counts what waits for its end.
type followed struct {
	context.Context
	followers *atomic.Int64
}

func (followed) Done() <-chan struct{} { return make(chan struct{}) }
func (followed) Value(any) any         { return nil }

// AfterFunc is called by [context.AfterFunc].
func (f followed) AfterFunc(func()) (stop func() bool) {
	f.followers.Add(1)
	return func() bool { f.followers.Add(-1); return true }
}

// A socket leaves nothing behind: no operation, no wish to hear that the server stops, no look at
// its token.
func TestNothingIsLeftOfASocket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dropped, followers, checks, ended := make(chan struct{}), &atomic.Int64{}, atomic.Int64{}, &atomic.Bool{}
		client := pipe(t, &socket{
			run: func(context.Context, string, []byte, func([]byte)) streamSource {
				return closing{answersSource{nil}, ended}
			},
			check:    func(string) error { checks.Add(1); return nil },
			stopping: followed{t.Context(), followers}, closed: func() { close(dropped) },
		})
		if followers.Load() != 1 {
			t.Error("an open socket does not hear that the server stops")
		}
		must.Get(io.WriteString(client, masked(`{"id":"1","type":"subscribe","payload":{}}`)))(t)
		synctest.Wait()
		must.Do(t, client.Close())
		<-dropped
		time.Sleep(time.Hour)
		if followers.Load() != 0 || checks.Load() != 1 || !ended.Load() {
			t.Errorf("%d followers are left, the token was checked %d times, the operation ended: %v", followers.Load(), checks.Load(), ended.Load())
		}
	})
}

// The names of headers are spelt as in RFC 6455: gql for Python recognizes the protocol by no other
// spelling.
func TestHeadersAreSpeltAsInTheStandard(t *testing.T) {
	conn := must.Get(net.Dial("tcp", strings.TrimPrefix(serve(t, nil), "http://")))(t) //nolint:noctx // a test
	defer conn.Close()
	must.Do(t, conn.SetDeadline(time.Now().Add(2*time.Minute)))
	must.Get(io.WriteString(conn, asking))(t)
	var answer strings.Builder
	for lines := bufio.NewReader(conn); !strings.HasSuffix(answer.String(), "\r\n\r\n"); {
		answer.WriteString(must.Get(lines.ReadString('\n'))(t))
	}
	if strings.Contains(answer.String(), "Sec-Websocket-") {
		t.Errorf("a name is spelt otherwise in\n%s", answer.String())
	}
	for _, line := range []string{"Sec-WebSocket-Accept: ", "Sec-WebSocket-Protocol: " + socketProtocol + "\r\n"} {
		if strings.Count(answer.String(), line) != 1 {
			t.Errorf("no line %q in\n%s", line, answer.String())
		}
	}
}

// A request that is not for a socket gets an HTTP answer.
func TestUpgradeRequired(t *testing.T) {
	closed := make(chan struct{})
	response, err := http.Get(serve(t, func(s *socket) { s.closed = func() { close(closed) } })) //nolint:noctx // a test
	must.Do(t, err)
	defer response.Body.Close()
	<-closed
	if text, _ := io.ReadAll(response.Body); response.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("%d %s", response.StatusCode, text)
	}
}
