package httpapi_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/httpapi"
)

// refusing is a server that refuses every operation.
type refusing struct {
	*httptest.Server
	connections *httpapi.Connections
	told        observer
	read        atomic.Int64 // requests that net/http has begun to read
}

func newRefusing(t *testing.T, gated bool) *refusing {
	t.Helper()
	full, release := crowded(t)
	t.Cleanup(release)
	s := &refusing{connections: httpapi.NewConnections(0, 0)}
	s.Server = httptest.NewUnstartedServer(httpapi.New(options(func(o *httpapi.Options) {
		o.Concurrency, o.Connections = full, s.connections
		o.Origins, o.Observers = []httpapi.Origin{"https://shop.example"}, []httpapi.Observer{&s.told}
	})))
	if gated {
		s.Listener = s.connections.Bound(s.Config, s.Listener)
	}
	under := s.Config.ConnState
	s.Config.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateActive {
			s.read.Add(1)
		}
		if under != nil {
			under(c, state)
		}
	}
	s.Config.Protocols = &http.Protocols{}
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true) // as the program has it
	s.Start()
	t.Cleanup(s.Close)
	return s
}

// shown is what clients see of an answer, but for what differs each time.
type shown struct {
	Status int
	Header http.Header
	Body   string
}

// changing are the headers that differ each time.
var changing = cmpopts.IgnoreMapEntries(func(name string, _ []string) bool { return name == "Date" || name == "X-Request-Id" })

// The second request of a connection and those after it are refused before net/http reads them. The
// answers are the same, and observers are told the same.
func TestGate(t *testing.T) {
	for name, request := range map[string]string{
		"announced":        announced,
		"by GET":           byGET,
		"of another type":  strings.Replace(announced, "application/json", "text/plain", 1),
		"for GraphQL's":    strings.Replace(announced, "\r\n", "\r\nAccept: application/graphql-response+json\r\n", 1),
		"of a shop's page": strings.Replace(announced, "\r\n", "\r\nOrigin: https://shop.example\r\n", 1),
		"of another site":  strings.Replace(announced, "\r\n", "\r\nOrigin: https://other.example\r\n", 1),
		"lines of LF":      strings.ReplaceAll(announced, "\r\n", "\n"),
	} {
		server := newRefusing(t, true)
		ask := asker(t, server.Server)
		first, next, tries := ask(request), reply{}, 0
		for read := int64(0); read < server.read.Load() && tries < 1000; tries++ { // net/http may have a byte of the next already
			read = server.read.Load()
			next = ask(request)
		}
		if diff := cmp.Diff(shown{first.status, first.header, first.body}, shown{next.status, next.header, next.body}, changing); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		a, b := server.told.of(first.header.Get("X-Request-Id")), server.told.of(next.header.Get("X-Request-Id"))
		if diff := cmp.Diff(a, b, cmpopts.IgnoreFields(httpapi.Exchange{}, "ID", "Began", "Took")); diff != "" || b.Refused != "limit" {
			t.Errorf("%s: observed: %s", name, diff)
		}
		if first.status != 503 || tries == 1000 {
			t.Errorf("%s: %d, and net/http has read %d requests", name, first.status, server.read.Load())
		}
	}
}

// A server that is about to end says with its next answer that the connection ends.
func TestGateOfAServerThatStops(t *testing.T) {
	server := newRefusing(t, true)
	conn := dial(t, server.Server)
	answers := bufio.NewReader(conn)
	for i := range 3 {
		if i == 2 {
			server.connections.Stop()
		}
		if _, err := io.WriteString(conn, announced); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != 503 || answer.Close != (i == 2) {
			t.Errorf("answer %d: %v %+v", i, err, answer)
		}
	}
}

// requests are requests of all kinds. After each of the first ones, the connection goes on.
var (
	requests = []string{
		announced, announced, announced, byGET, inChunks,
		head + "Content-Length: 92\r\n\r\n" + announced[:92],                      // its body begins like a request
		"POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 56\r\n\r\n" + byGET, // is one
		strings.ReplaceAll(announced, "\r\n", "\n"),
		strings.Replace(announced, "\r\n", "\r\nFolded: a\r\n b\r\n", 1),
		strings.Replace(announced, "\r\n", "\r\nExpect: 100-continue\r\n", 1),
		strings.Replace(byGET, "GET", "OPTIONS", 1),
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
		"POST /graphql HTTP/1.1\r\nHost: x\r\n\r\n",
		head + "Content-Length: 3000\r\n\r\n" + strings.Repeat(byGET, 60)[:3000],
	}
	ends = []string{
		strings.Replace(announced, "\r\n", "\r\nConnection: close\r\n", 1),
		strings.Replace(announced, "\r\n", "\r\nConnection: keep-alive close\r\n", 1),
		strings.Replace(announced, "1.1", "1.0", 1),
		strings.Replace(announced, "1.1", "2.0", 1),
		strings.Replace(announced, "Content-Length: 21", "Content-Length: 21\r\nContent-Length: 22", 1),
		strings.Replace(announced, "Content-Length: 21", "Content-Length: 20", 1),
		strings.Replace(announced, "Content-Length: 21", "Content-Length: 22", 1),
		strings.Replace(announced, "Content-Length: 21", "Content-Length: 21\r\nTransfer-Encoding: chunked", 1),
		strings.Replace(announced, "Host:", "Host :", 1),
		strings.Replace(announced, "\r\n\r\n", "\r\n \r\n\r\n", 1),
		strings.Replace(announced, "Host: localhost", "Host: local host", 1),
		strings.Replace(announced, "Host: localhost\r\n", "", 1),
		strings.Replace(announced, "\r\n", "\r\nHost: other\r\n", 1),
		strings.Replace(announced, "\r\n", "\r\nA: \x01\r\n", 1),
		strings.Replace(announced, "\r\n", "\r\nA(: x\r\n", 1),
		strings.Replace(announced, "/graphql", "/graphql/%zz", 1),
		"X" + announced, announced[:50], "",
	}
)

// Whatever is sent, in whatever parts, a client sees the same answers with the gate and without it. One
// thing differs that no client of today does: net/http takes an empty line after the body of a POST, and
// does not know of a POST that the gate has refused.
func TestGateChangesNothing(t *testing.T) {
	gated, plain := newRefusing(t, true), newRefusing(t, false)
	answers := 0
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		for _, request := range append(rapid.SliceOfN(rapid.SampledFrom(requests), 0, 6).Draw(t, "requests"), rapid.SampledFrom(ends).Draw(t, "end")) {
			at := rapid.OneOf(rapid.Just(0), rapid.IntRange(0, len(request))).Draw(t, "cut")
			parts = append(parts, request[:at], request[at:])
		}
		pauses := rapid.SliceOfN(rapid.Bool(), len(parts), len(parts)).Draw(t, "pauses")
		want, wantReset := dialogue(t, plain, parts, pauses)
		got, gotReset := dialogue(t, gated, parts, pauses)
		if wantReset || gotReset { // by a server that closes before it has read all: the last answers may be lost
			least := min(len(want), len(got))
			want, got = want[:least], got[:least]
		}
		if diff := cmp.Diff(want, got, changing, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("%q: %s", parts, diff)
		}
		answers += len(got)
	})
	if read := int(gated.read.Load()); read > answers*9/10 {
		t.Errorf("net/http has read %d of %d requests: this proves little", read, answers)
	}
}

// dialogue sends parts of requests over one connection, and returns the answers until it ends. reset
// reports whether the server has cut it off. Where there is a pause, the client waits for an answer if
// one comes soon, so that the server reads the next part by itself as a rule.
func dialogue(t *rapid.T, with *refusing, parts []string, pauses []bool) (answers []shown, reset bool) {
	conn, err := net.Dial("tcp", with.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	received := make(chan shown)
	go func() {
		defer close(received)
		reset = errors.Is(receive(conn, received), syscall.ECONNRESET)
	}()
	for i, part := range parts {
		if _, err := io.WriteString(conn, part); err != nil {
			break // the server has closed it
		}
		if pauses[i] {
			select {
			case a, more := <-received:
				if more {
					answers = append(answers, a)
				}
			case <-time.After(time.Millisecond):
			}
		}
	}
	_ = conn.(*net.TCPConn).CloseWrite() // it fails if the server has closed it
	for a := range received {
		answers = append(answers, a)
	}
	return answers, reset
}

// receive reads answers until the connection ends.
func receive(conn net.Conn, answers chan<- shown) error {
	for from := bufio.NewReader(conn); ; {
		answer, err := http.ReadResponse(from, nil)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			return err
		}
		answers <- shown{answer.StatusCode, answer.Header, string(body)}
	}
}
