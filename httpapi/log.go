package httpapi

import (
	"cmp"
	"context"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/usage"
)

// LogRequests returns an observer that logs a line for each request to the API: the type and the
// name of the operation, its outcome and its cost. It never logs variables, texts, tokens or
// addresses of clients. Observers that begin a trace must come before it.
func LogRequests(logger *slog.Logger) Observer { return requestLog{logger} }

type requestLog struct{ logger *slog.Logger }

// Began implements Observer. The log names the caller's trace even if this server does not record
// it.
func (requestLog) Began(r *http.Request, _ *Exchange) context.Context {
	if usage.TraceID(r.Context()) != "" {
		return r.Context()
	}
	return usage.JoinTrace(r.Context(), r.Header)
}

// Ended implements Observer.
func (l requestLog) Ended(ctx context.Context, e *Exchange) {
	if e.Route == graphQLPath {
		l.logger.InfoContext(ctx, "request", e.attributes(ctx)...)
	}
}

// maxName is how much of an operation's name is logged, in bytes.
const maxName = 64

// logName returns the name of an operation for the log, cut to maxName. It returns "" for a text
// that is no GraphQL name, since clients may send any.
func logName(name string) string {
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	return name[:min(len(name), maxName)]
}

// attributes returns the attributes of the log line of an exchange. It leaves out unknown ones.
func (e *Exchange) attributes(ctx context.Context) []any {
	out := make([]any, 0, 16)
	text := func(key, value string) {
		if value != "" {
			out = append(out, slog.String(key, value))
		}
	}
	text("request", e.ID)
	text("trace", usage.TraceID(ctx))
	text("operation", e.Operation)
	text("name", logName(e.Name))
	text("outcome", string(e.Outcome))
	text("codes", strings.Join(e.Codes, ","))
	text("refused", e.Refused)
	return append(out,
		slog.Int("status", e.Status),
		slog.Float64("estimatedReadUnits", e.EstimatedUnits),
		slog.Float64("readUnits", e.Units),
		slog.Int("waves", e.Waves),
		slog.Int("calls", e.Calls),
		slog.Int("bytes", e.Bytes),
		slog.Float64("ms", milliseconds(e.Took)),
	)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// slowPerMinute is how many slow operations are logged in a minute: enough to see what they have in
// common. When the table is slow, all are.
const slowPerMinute = 10

// SlowLog is an observer that logs operations that ran for long, with the plans by which they read
// comments. A plan names the product and the filter, which belong to the shop, and never a comment.
// In each minute it logs the first few, and then how many more there were.
type SlowLog struct {
	from   time.Duration
	logger *slog.Logger
	lines  *perMinute[struct{}]
}

// NewSlowLog returns an observer that logs operations that take at least from. The caller calls
// Close at the end.
func NewSlowLog(logger *slog.Logger, from time.Duration) *SlowLog {
	return &SlowLog{from: from, logger: logger, lines: newPerMinute(slowPerMinute, func(_ struct{}, more int) {
		logger.Warn("more operations were slow and were not logged", "count", more)
	})}
}

// Close logs how many operations were not logged so far.
func (l *SlowLog) Close() { l.lines.close() }

// Began implements Observer.
func (*SlowLog) Began(r *http.Request, _ *Exchange) context.Context { return r.Context() }

// Ended implements Observer.
func (l *SlowLog) Ended(ctx context.Context, e *Exchange) {
	if e.Ran < l.from || !l.lines.pass(struct{}{}) {
		return
	}
	attributes := append(e.attributes(ctx), slog.Float64("ranMs", milliseconds(e.Ran)))
	if plans := e.Plans(); len(plans) > 0 {
		attributes = append(attributes, slog.String("plan", strings.Join(plans, "\n")))
	}
	l.logger.WarnContext(ctx, "an operation was slow", attributes...)
}

// TraceRequests returns an observer that records requests and their operations as spans, in the
// trace that a request names by the W3C's traceparent. Probes are not recorded. A page that calls
// the API has one span, with the span of the operation inside.
func TraceRequests(tracer *usage.Tracer) Observer { return requestTraces{tracer} }

type requestTraces struct{ tracer *usage.Tracer }

func (requestTraces) leavesOut(e *Exchange) bool {
	return e.Inside || e.Route == "/healthz" || e.Route == "/readyz"
}

// Began implements Observer.
func (t requestTraces) Began(r *http.Request, e *Exchange) context.Context {
	if t.leavesOut(e) {
		return r.Context()
	}
	ctx, _ := t.tracer.Request(usage.JoinTrace(r.Context(), r.Header), r, e.Route)
	return ctx
}

// Ended implements Observer.
func (t requestTraces) Ended(ctx context.Context, e *Exchange) {
	if t.leavesOut(e) {
		return
	}
	span := usage.CurrentSpan(ctx)
	defer span.End()
	if !span.Recording() {
		return
	}
	span.Set(
		usage.Count("http.response.status_code", e.Status),
		usage.Count("http.response.body.size", e.Bytes),
		usage.Text("talkback.request_id", e.ID),
	)
	if e.Status == 0 || e.Status >= http.StatusInternalServerError {
		span.Fail(cmp.Or(e.Refused, e.Code, "_OTHER"))
	}
}

// end ends the span of an operation.
func (e *Exchange) end(span usage.Span) {
	defer span.End()
	if !span.Recording() {
		return
	}
	span.Set(
		usage.Text("talkback.outcome", string(e.Outcome)),
		usage.Amount("talkback.estimated_read_units", e.EstimatedUnits),
		usage.Amount("talkback.read_units", e.Units),
		usage.Count("talkback.waves", e.Waves),
		usage.Count("talkback.calls", e.Calls),
	)
	if e.Code != "" {
		span.Fail(e.Code)
	}
}

// ServerLog is the ErrorLog of an [net/http.Server]. It receives messages such as that a handshake
// failed or that a client broke the protocol, and logs them without the addresses of clients.
//
// Anyone can cause thousands of such messages. Of each kind, ServerLog logs the first of a minute,
// and at the end of the minute how many more there were. What clients cause has the level debug.
// Panics have the level error and are all logged, without their values. Safe for concurrent use.
type ServerLog struct {
	to    *slog.Logger
	lines *perMinute[kindOfMessage]
}

// kindOfMessage is the beginning that messages of one kind share, and their level.
type kindOfMessage struct {
	begins string
	level  slog.Level
}

// messages are the known kinds of net/http's messages, of both versions of HTTP. Others may be
// about the server itself.
var messages = []kindOfMessage{
	{"http: panic serving", slog.LevelError},
	{"http2: panic serving", slog.LevelError},
	{"http: TLS handshake error", slog.LevelDebug},
	{"http: URL query contains semicolon", slog.LevelDebug},
	{"http2: server", slog.LevelDebug},
	{"http2: received GOAWAY", slog.LevelDebug},
	{"timeout waiting for", slog.LevelDebug},
}

var otherMessage = kindOfMessage{"", slog.LevelWarn}

// NewServerLog returns a ServerLog that writes to a logger. The caller calls Close when the server
// has ended.
func NewServerLog(to *slog.Logger) *ServerLog {
	return &ServerLog{to: to, lines: newPerMinute(1, func(kind kindOfMessage, more int) {
		to.Log(context.Background(), kind.level, "the HTTP server: more such messages", "kind", kind.begins, "count", more)
	})}
}

// Logger returns the logger to use as the ErrorLog of a server.
func (l *ServerLog) Logger() *log.Logger { return log.New(l, "", 0) }

// Write implements [io.Writer]. It takes one message at a time.
func (l *ServerLog) Write(message []byte) (int, error) {
	text := address.ReplaceAllString(strings.TrimSuffix(string(message), "\n"), "a client")
	kind := otherMessage
	if at := slices.IndexFunc(messages, func(k kindOfMessage) bool { return strings.HasPrefix(text, k.begins) }); at >= 0 {
		kind = messages[at]
	}
	panicked := kind.level == slog.LevelError
	if panicked {
		text = withoutValue(text)
	}
	if panicked || l.lines.pass(kind) {
		l.to.Log(context.Background(), kind.level, "the HTTP server: "+text)
	}
	return len(message), nil
}

// withoutValue returns the message of a panic without the panic's value, which may be what a
// customer wrote. The text of a run-time error stays. The message has the value between the client
// and the stack.
func withoutValue(text string) string {
	parts, stack := strings.SplitN(text, ": ", 3), strings.LastIndex(text, "\ngoroutine ")
	if len(parts) < 3 || stack < 0 || strings.HasPrefix(parts[2], "runtime error: ") || strings.HasPrefix(parts[2], "interface conversion: ") {
		return text
	}
	return parts[0] + ": " + parts[1] + text[stack:]
}

// Close logs the counts of messages that are not logged yet.
func (l *ServerLog) Close() { l.lines.close() }

// address matches a client's address with its port: IPv4, or IPv6 in brackets.
var address = regexp.MustCompile(`\[[0-9A-Fa-f:.%\w]+\]:\d+|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?`)

// perMinute lets at most a fixed number of messages of each kind pass in a minute. At the end of
// the minute it reports how many more came. It is for messages that a client can cause by the
// thousand. Safe for concurrent use.
type perMinute[Kind comparable] struct {
	most int                       // messages
	tell func(kind Kind, more int) // at the end, if there were more

	mu    sync.Mutex
	begun map[Kind]*minute
}

// minute counts the messages of a kind for a minute, which begins with the first.
type minute struct {
	passed, more int
	end          *time.Timer
}

func newPerMinute[Kind comparable](most int, tell func(kind Kind, more int)) *perMinute[Kind] {
	return &perMinute[Kind]{most: most, tell: tell, begun: map[Kind]*minute{}}
}

// pass reports whether a message passes, and counts it if not.
func (p *perMinute[Kind]) pass(kind Kind) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	m := p.begun[kind]
	if m == nil {
		m = &minute{end: time.AfterFunc(time.Minute, func() { p.end(kind) })}
		p.begun[kind] = m
	}
	if m.passed == p.most {
		m.more++
		return false
	}
	m.passed++
	return true
}

// end ends the minute of a kind, unless it has ended before.
func (p *perMinute[Kind]) end(kind Kind) {
	p.mu.Lock()
	m := p.begun[kind]
	delete(p.begun, kind)
	p.mu.Unlock()
	if m != nil && m.more > 0 {
		p.tell(kind, m.more)
	}
}

// close ends all minutes.
func (p *perMinute[Kind]) close() {
	p.mu.Lock()
	open := slices.Collect(maps.Keys(p.begun))
	for _, m := range p.begun {
		m.end.Stop()
	}
	p.mu.Unlock()
	for _, kind := range open {
		p.end(kind)
	}
}
