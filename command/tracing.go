package command

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/telemetry"
	"github.com/talkback/talkback/telemetry/spans"
)

// startTraces begins to send traces, if the environment asks for that.
func startTraces(ctx context.Context, term Terminal) (*telemetry.Traces, error) {
	traces, err := telemetry.StartTraces(ctx, release(), os.LookupEnv, term.Logger)
	return traces, usage(err)
}

// trace lets the calls of a session be part of traces.
func (s *Session) trace(traces *telemetry.Traces) {
	if tracer := traces.Tracer(); tracer != nil {
		s.tracer, s.writes = tracer, spans.NewWrites()
		s.Client = call.Traced(s.Client, s.Table)
	}
}

// RequestLogFlags say which requests are logged.
type RequestLogFlags struct {
	SlowOperation time.Duration `help:"Log operations that run for this long or longer, with their plans; 0 logs none (default: ${default})." placeholder:"1s" default:"1s"`
}

// requestObservers returns what traces and logs requests, and a function that ends them.
func (f RequestLogFlags) requestObservers(traces *telemetry.Traces, term Terminal) (observers []httpapi.Observer, end func()) {
	end = func() {}
	if tracer := traces.Tracer(); tracer != nil {
		observers = append(observers, httpapi.TraceRequests(tracer))
	}
	if term.LogsJSON || term.Logger.Enabled(context.Background(), slog.LevelDebug) {
		observers = append(observers, httpapi.LogRequests(term.Logger))
	}
	if f.SlowOperation > 0 {
		slow := httpapi.NewSlowLog(term.Logger, f.SlowOperation)
		observers, end = append(observers, slow), slow.Close
	}
	return observers, end
}
