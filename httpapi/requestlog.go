package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/talkback/talkback/telemetry/spans"
)

// LogRequests returns an observer that logs a line for each request to the API: what was asked for
// by type and name, what became of it, and what it took. Variables, texts, tokens and addresses of
// clients are not in it. Observers that begin a trace come before it.
func LogRequests(logger *slog.Logger) Observer { return requestLog{logger} }

type requestLog struct{ logger *slog.Logger }

// Began implements Observer. The trace of a caller is named even if it is not recorded here.
func (requestLog) Began(r *http.Request, _ *Exchange) context.Context {
	if spans.TraceID(r.Context()) != "" {
		return r.Context()
	}
	return spans.Joined(r.Context(), r.Header)
}

// Ended implements Observer.
func (l requestLog) Ended(ctx context.Context, e *Exchange) {
	if e.Route == graphQLPath {
		l.logger.InfoContext(ctx, "request", e.attributes(ctx)...)
	}
}

// maxName is how much of an operation's name is logged, in bytes.
const maxName = 64

// logName is the name of an operation as it may be logged: the client chose it. One that is no name
// of GraphQL is left out.
func logName(name string) string {
	for _, c := range []byte(name) {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	return name[:min(len(name), maxName)]
}

// attributes are what a line of the log tells of an exchange. What is unknown is left out.
func (e *Exchange) attributes(ctx context.Context) []any {
	out := make([]any, 0, 16)
	text := func(key, value string) {
		if value != "" {
			out = append(out, slog.String(key, value))
		}
	}
	text("request", e.ID)
	text("trace", spans.TraceID(ctx))
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

// Close logs how many were not logged so far.
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
