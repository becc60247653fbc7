package command

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/live"
	"github.com/talkback/talkback/telemetry"
)

// AdminFlags configure the listener for operators.
type AdminFlags struct {
	AdminListen string `help:"Address of a listener for operators and their programs: /metrics, /healthz, /readyz, and /debug/pprof for callers on this machine. Without it, there is none." placeholder:"HOST:PORT"`
}

// measured is the metrics of a process, and their admin listener. A nil measured does nothing.
type measured struct {
	*telemetry.Metrics
	listener *adminListener // nil without --admin-listen
}

// lastExport is how long an ending process waits for its last metrics to be sent.
const lastExport = 3 * time.Second

// measure starts metrics if --admin-listen or the variables of OpenTelemetry ask for them;
// otherwise it returns nil. api answers the health checks; nil for none. The error names the cure.
func (f AdminFlags) measure(ctx context.Context, api http.Handler, term Terminal) (*measured, error) {
	var readers []telemetry.Reader
	var listener *adminListener
	if f.AdminListen != "" {
		scraped, err := telemetry.NewPrometheus()
		if err != nil {
			return nil, err
		}
		on, err := listenOn(ctx, "--admin-listen", f.AdminListen)
		if err != nil {
			return nil, err
		}
		loopback := isLoopback(on.Addr())
		if !loopback { // everyone who reaches it can read metrics
			term.Logger.Warn("other machines can read the metrics of this process, unless a firewall is in between: "+
				"--admin-listen 127.0.0.1:PORT shows them to this one alone", "address", on.Addr().String())
		}
		said := httpapi.NewServerLog(term.Logger)
		server := &http.Server{
			Handler:           telemetry.NewAdmin(telemetry.AdminOptions{Metrics: scraped, API: api, FromHere: auth.FromHere, Loopback: loopback}),
			ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: telemetry.AdminWriteTimeout, IdleTimeout: idleTimeout,
			MaxHeaderBytes: maxHeaderBytes, ErrorLog: said.Logger(),
		}
		listener = &adminListener{on: httpapi.NewConnections(telemetry.AdminConnections, 0).Bound(server, on), said: said, http: server}
		readers = append(readers, scraped.Reader)
	}
	metrics, err := telemetry.Start(ctx, telemetry.Settings{
		Version: build().Main.Version, Environment: os.LookupEnv, Readers: readers, Logger: term.Logger,
	})
	if err != nil {
		listener.close()
		return nil, asUsage(err)
	}
	if metrics == nil {
		return nil, nil
	}
	if listener != nil {
		term.Logger.Info("operators are answered", "address", listener.on.Addr().String())
		listener.done = make(chan struct{})
		go func() {
			defer close(listener.done)
			_ = listener.http.Serve(listener.on) // it returns after close
		}()
	}
	return &measured{metrics, listener}, nil
}

// close sends the last metrics, and frees the port.
func (m *measured) close(log *slog.Logger) {
	if m == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastExport)
	defer cancel()
	if err := m.Stop(ctx); err != nil {
		log.Warn("the last metrics were not sent", "error", err)
	}
	m.listener.close()
}

// endings are functions that stop what a process has started.
type endings []func()

// close stops everything in parallel: each part may wait seconds for something else to answer.
func (e endings) close() {
	var ending sync.WaitGroup
	for _, end := range e {
		ending.Go(end)
	}
	ending.Wait()
}

// requestObserver measures the requests of an API. It implements httpapi.Observer.
type requestObserver struct{ to *telemetry.Requests }

// Began implements httpapi.Observer.
func (o requestObserver) Began(r *http.Request, e *httpapi.Exchange) context.Context {
	if !e.Inside {
		o.to.Began(r.Context(), e.Method, e.Scheme)
	}
	return r.Context()
}

// Ended implements httpapi.Observer.
func (o requestObserver) Ended(ctx context.Context, e *httpapi.Exchange) {
	if !e.Inside {
		o.to.Ended(ctx, e.Method, e.Scheme, e.Route, e.Status, e.Took)
	}
	if e.Outcome != "" {
		o.to.Answered(ctx, telemetry.Operation{
			Type: e.Operation, Outcome: string(e.Outcome), Code: e.Code, Refused: e.Refused,
			EstimatedUnits: e.EstimatedUnits, Units: e.Units, Took: e.Took,
		})
	}
}

// adminListener is the server of --admin-listen. A nil adminListener does nothing.
type adminListener struct {
	http *http.Server
	on   net.Listener
	said *httpapi.ServerLog
	done chan struct{} // closed when it has ended; nil before it answers
}

// close stops the server at once, even while it answers.
func (l *adminListener) close() {
	if l == nil {
		return
	}
	_ = l.http.Close()
	_ = l.on.Close() // closed already if the server ran
	if l.done != nil {
		<-l.done
	}
	l.said.Close()
}

// ofPlaces exports the state of a limiter of requests, and returns the limiter.
func (m *measured) ofPlaces(limiter *httpapi.Limiter) *httpapi.Limiter {
	if m == nil || limiter == nil {
		return limiter
	}
	m.Watch("talkback.api.limit", func() (float64, bool) { return float64(limiter.State().Limit), true })
	m.Watch("talkback.api.in_flight", func() (float64, bool) { return float64(limiter.State().InFlight), true })
	m.Watch("talkback.api.queued", func() (float64, bool) { return float64(limiter.State().Queued), true })
	return limiter
}

// ofClients exports the number of limited clients, and whether the store of all servers answers.
func (m *measured) ofClients(limits *httpapi.ClientLimits) {
	if m == nil || limits == nil {
		return
	}
	var store interface{ Away() bool }
	for _, kept := range []httpapi.Quota{limits.Reads, limits.Writes} {
		if local, ok := kept.(interface{ Clients() int }); ok {
			m.Watch("talkback.client_limits.clients", func() (float64, bool) { return float64(local.Clients()), true }, kept.Policy().Name)
		}
		if shared, ok := kept.(interface{ Away() bool }); ok {
			store = shared // one for both
		}
	}
	if store != nil {
		m.Watch("talkback.client_limits.store_available", func() (float64, bool) { return one(!store.Away()), true })
	}
}

// ofHooks exports deliveries to hooks, and the state of the hooks.
func (m *measured) ofHooks(o webhooks.Options) webhooks.Options {
	if m == nil {
		return o
	}
	var latest atomic.Pointer[[]webhooks.State]
	latest.Store(&[]webhooks.State{})
	o.Tried = func(hook string, outcome webhooks.Outcome) { m.Hooks.Tried(hook, string(outcome)) }
	o.States = func(all []webhooks.State) {
		for _, s := range all {
			m.Hooks.Known(s.Hook.ID)
		}
		latest.Store(&all)
	}
	m.WatchAll("talkback.hook.lag", func(show func(float64, ...string)) {
		for _, s := range *latest.Load() {
			show(s.Lag(time.Now()).Seconds(), s.Hook.ID)
		}
	})
	m.WatchAll("talkback.hook.paused", func(show func(float64, ...string)) {
		for _, s := range *latest.Load() {
			show(one(s.Hook.Paused), s.Hook.ID)
		}
	})
	return o
}

// ofSubscriptions exports the state of subscriptions, if there are any.
func (m *measured) ofSubscriptions(s *httpapi.Subscriptions, hub *live.Hub) {
	if m == nil || s == nil {
		return
	}
	m.WatchAll("talkback.subscriptions.open", func(show func(float64, ...string)) {
		for transport, n := range s.State().Open {
			show(float64(n), transport)
		}
	})
	m.Watch("talkback.subscriptions.connections", func() (float64, bool) { return float64(s.State().Connections), true })
	m.WatchCounter("talkback.subscriptions.sent", func() int64 { return s.State().Sent })
	m.WatchCounter("talkback.subscriptions.dropped", hub.Dropped)
	m.Watch("talkback.outbox.age", func() (float64, bool) {
		newest := hub.Newest()
		return max(0, time.Since(newest)).Seconds(), !newest.IsZero()
	})
}

// ofCounting exports the progress of reading the stream. Call it before the runner runs.
func (m *measured) ofCounting(runner *counts.Runner) {
	if m == nil {
		return
	}
	consumer := runner.Consumer
	consumer.Observer = m.Stream
	m.Stream.Zero()
	m.Watch("talkback.stream.lag", func() (float64, bool) {
		upTo, complete, running := consumer.ProcessedUpTo()
		return max(0, time.Since(upTo)).Seconds(), running && complete
	})
	m.Watch("talkback.stream.complete", func() (float64, bool) {
		_, complete, running := consumer.ProcessedUpTo()
		return one(complete), running
	})
	m.Watch("talkback.stream.shards", func() (float64, bool) { return float64(len(consumer.Status())), true })
}

// lagTimeout bounds reading the lag of page numbers, so that a scrape is answered in time.
const lagTimeout = 2 * time.Second

// ofPageIndex exports the lag and the availability of the page index, if there is one.
func (m *measured) ofPageIndex(p *pages) {
	index, ok := p.found.(interface {
		Lag(context.Context) (lag time.Duration, known, answers bool)
	})
	if m == nil || !ok {
		return
	}
	look := func() (lag time.Duration, known, answers bool) {
		ctx, cancel := context.WithTimeout(context.Background(), lagTimeout)
		defer cancel()
		return index.Lag(ctx)
	}
	m.Watch("talkback.page_index.lag", func() (float64, bool) {
		lag, known, _ := look()
		return lag.Seconds(), known
	})
	m.Watch("talkback.page_index.available", func() (float64, bool) {
		_, _, answers := look()
		return one(answers), true
	})
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func startTraces(ctx context.Context, term Terminal) (*telemetry.Traces, error) {
	traces, err := telemetry.StartTraces(ctx, build().Main.Version, os.LookupEnv, term.Logger)
	return traces, asUsage(err)
}

// observe watches the clock, and traces and measures calls. Call it before anything uses the
// client.
func (s *Session) observe(traces *telemetry.Traces, measured *measured, log *slog.Logger) {
	s.watchClock(log)
	if tracer := traces.Tracer(); tracer != nil {
		s.tracer, s.writes = tracer, usage.NewWrites()
		s.Client = call.Traced(s.Client, s.Table)
	}
	if measured != nil {
		s.Client = call.Observed(s.Client, measured.Table)
		measured.Watch("talkback.clock.offset", func() (float64, bool) { return s.clock.Ahead().Seconds(), true })
	}
}

// RequestLogFlags say which requests are logged.
type RequestLogFlags struct {
	SlowOperation time.Duration `help:"Log operations that run for this long or longer, with their plans; 0 logs none (default: ${default})." placeholder:"1s" default:"1s"`
}

// requestObservers returns observers that trace and log requests, and a function to end them.
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
