package httpapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// linesOf returns the lines of a log in JSON, without values that differ from run to run.
func linesOf(t *testing.T, log *bytes.Buffer) (lines []map[string]any) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		for _, key := range []string{"time", "request", "ms", "ranMs", "bytes"} {
			delete(line, key)
		}
		lines = append(lines, line)
	}
	return lines
}

// Each request to the API is a log line: its trace, type and name, its outcome and its cost. It
// contains no text of the client but a name.
func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	handler := newHandler(t, func(o *httpapi.Options) {
		o.Observers = []httpapi.Observer{httpapi.LogRequests(slog.New(slog.NewJSONHandler(&log, nil)))}
	})
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	long := strings.Repeat("n", 100)
	line := func(outcome string, more ...any) map[string]any {
		out := map[string]any{"level": "INFO", "msg": "request", "outcome": outcome, "status": 200., "estimatedReadUnits": 0., "readUnits": 0., "waves": 0., "calls": 0.}
		for pair := range slices.Chunk(more, 2) {
			out[pair[0].(string)] = pair[1]
		}
		return out
	}
	for _, row := range []struct {
		why, query, traceparent string
		want                    map[string]any
	}{
		{"answered", "query Mine { echo }", "", line("ok", "operation", "query", "name", "Mine")},
		{"within a trace of its caller", "{ echo }", parent, line("ok", "operation", "query", "trace", "0af7651916cd43dd8448eb211c80319c")},
		{"a hostile trace", "{ echo }", "00-" + long, line("ok", "operation", "query")},
		{"a long name", "query " + long + " { echo }", "", line("ok", "operation", "query", "name", long[:64])},
		{"failed", "{ fails }", "", line("partial", "operation", "query")},
		{"not GraphQL", "somebody@example.com", "", line("refused", "codes", "GRAPHQL_PARSE_FAILED")},
	} {
		log.Reset()
		body, _ := json.Marshal(map[string]string{"query": row.query})
		r := posted(string(body))
		r.Header.Set("Authorization", "Bearer somebody@example.com")
		if row.traceparent != "" {
			r.Header.Set("Traceparent", row.traceparent)
		}
		handler.ServeHTTP(httptest.NewRecorder(), r)
		if strings.Contains(log.String(), "somebody") {
			t.Errorf("%s: %s", row.why, log.String())
		}
		check.Equal(t, []map[string]any{row.want}, linesOf(t, &log), row.why)
	}
	log.Reset()
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/healthz", nil))
	if log.Len() > 0 {
		t.Errorf("a probe is logged: %s", log.String())
	}
}

// Of a thousand slow operations in a minute, ten are logged, with their plans and the number of the
// others. Quick operations are not logged.
func TestSlowOperationsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		slow := httpapi.NewSlowLog(slog.New(slog.NewJSONHandler(&log, nil)), time.Second)
		ran := func(long time.Duration) {
			slow.Ended(t.Context(), &httpapi.Exchange{Route: "/graphql", Ran: long, Plans: func() []string { return []string{"read 21", "read 3"} }})
		}
		for range 1000 {
			ran(time.Second)
			ran(time.Second - 1)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		ran(time.Hour)
		slow.Close()
		var said []string
		for _, line := range linesOf(t, &log) {
			said = append(said, line["msg"].(string))
			if line["level"] != "WARN" || line["count"] == nil && line["plan"] != "read 21\nread 3" || line["count"] != nil && line["count"] != 990. {
				t.Errorf("%v", line)
			}
		}
		want := append(slices.Repeat([]string{"an operation was slow"}, 10), "more operations were slow and were not logged", "an operation was slow")
		check.Equal(t, want, said)
	})
}

// The log line of a recorded request names its trace, and takes no other trace from the header.
func TestTheTraceOfALine(t *testing.T) {
	inside := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	r := httptest.NewRequest("POST", "/graphql", nil).WithContext(trace.ContextWithSpanContext(context.Background(), inside))
	r.Header = http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"}}
	ctx := httpapi.LogRequests(slog.New(slog.DiscardHandler)).Began(r, &httpapi.Exchange{})
	if got := trace.SpanContextFromContext(ctx).TraceID(); got != inside.TraceID() {
		t.Errorf("the line names trace %s", got)
	}
}

// Messages of the server are logged once a minute for each kind, with the number of further ones,
// and without client addresses.
func TestServerLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		server := httpapi.NewServerLog(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
		for i := range 200 {
			server.Logger().Printf("http: TLS handshake error from 203.0.113.9:%d: EOF", 1000+i)
			server.Logger().Printf("http2: server: error reading preface from client [2001:db8::%x]:443: bogus greeting", i)
		}
		server.Logger().Print("http: Accept error: accept tcp 127.0.0.1:8080: too many open files; retrying in 5ms")
		time.Sleep(time.Minute)
		synctest.Wait()
		server.Logger().Print("http: TLS handshake error from 203.0.113.9:9: EOF")
		server.Logger().Print("http: TLS handshake error from 203.0.113.9:9: EOF")
		for range 2 {
			server.Logger().Print("http: panic serving 203.0.113.9:9: oh\ngoroutine 1")
		}
		server.Close()
		for line := range strings.Lines(out.String()) {
			if strings.Contains(line, "203.0.113") || strings.Contains(line, "2001:db8") {
				t.Errorf("an address is logged: %s", line)
			}
		}
		for what, want := range map[string]int{"level=DEBUG": 6, "level=WARN": 1, "level=ERROR": 2, "count=199": 2, "count=1\n": 1, "too many open files": 1} {
			if got := strings.Count(out.String(), what); got != want {
				t.Errorf("%d times %q, want %d:\n%s", got, what, want, out.String())
			}
		}
	})
}

// written is what was written, call by call.
type written chan string

func (w written) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// Of a panic that reaches Go's server, such as one of a page, the log has where it began. It has
// the text of a run-time error, and no other value, which may be what a customer wrote.
func TestPanicsThatReachTheServer(t *testing.T) {
	for _, row := range []struct {
		why, says string
		panics    func()
	}{
		{"a text", "panic serving a client", func() { panic("secret: a text\n\ngoroutine 7 [running]:\nof secrets") }},
		{"an error", "panic serving a client", func() { panic(errors.New("secret inside")) }},
		{"a wrong type", "interface conversion: interface {} is string, not int", func() { _ = any(t.Name()).(int) }},
		{"a run-time error", "runtime error: index out of range", func() { _ = make([]int, 3)[len(t.Name())] }},
	} {
		for _, http2 := range []bool{false, true} {
			said := make(written, 10)
			log := httpapi.NewServerLog(slog.New(slog.NewTextHandler(said, nil)))
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { row.panics() }))
			server.Config.ErrorLog, server.EnableHTTP2 = log.Logger(), http2
			server.StartTLS()
			if response, err := server.Client().Get(server.URL); err == nil {
				_ = response.Body.Close()
			}
			must.Wait(t, "the panic is logged", func() bool { return len(said) > 0 }) // over HTTP/2, after the client knows
			server.Close()
			log.Close()
			if text := <-said; !strings.Contains(text, row.says) || !strings.Contains(text, t.Name()) || strings.Contains(text, "secret") {
				t.Errorf("%s, HTTP/2: %v: %s", row.why, http2, text)
			}
		}
	}
}
