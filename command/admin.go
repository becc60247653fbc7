package command

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/talkback/talkback/auth"
	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/telemetry"
)

// AdminFlags say where operators ask a process how it fares.
type AdminFlags struct {
	AdminListen string `help:"Address of a listener for operators and their programs: /metrics, /healthz, /readyz, and /debug/pprof for callers on this machine. Without it, there is none." placeholder:"HOST:PORT"`
}

// measured is what a process measures, and the admin listener that shows it. The nil measured
// measures nothing.
type measured struct {
	*telemetry.Metrics
	listener *adminListener // nil without --admin-listen
}

// lastExport is how long the end of a process waits for its last metrics to be sent.
const lastExport = 3 * time.Second

// measure begins to measure if an operator asks for it, by --admin-listen or by the variables of
// OpenTelemetry; else it returns nil. api answers for the health of the process; nil for none. The
// error names the cure.
func (f AdminFlags) measure(ctx context.Context, api http.Handler, term Terminal) (*measured, error) {
	var readers []telemetry.Reader
	var listener *adminListener
	if f.AdminListen != "" {
		scraped, err := telemetry.NewPrometheus()
		if err != nil {
			return nil, err
		}
		if listener, err = f.listen(ctx, scraped, api, term.Logger); err != nil {
			return nil, err
		}
		readers = append(readers, scraped.Reader())
	}
	metrics, err := telemetry.Start(ctx, telemetry.Settings{
		Version: release(), Environment: os.LookupEnv, Readers: readers, Logger: term.Logger,
	})
	if err != nil {
		listener.close()
		return nil, usage(err)
	}
	if metrics == nil {
		return nil, nil
	}
	listener.start(term.Logger)
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

// observers returns what measures the requests of an API.
func (m *measured) observers() []httpapi.Observer {
	if m == nil {
		return nil
	}
	return []httpapi.Observer{requestObserver{m.Requests}}
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

// adminListener is the server of --admin-listen. The nil one does nothing.
type adminListener struct {
	http *http.Server
	on   net.Listener
	said *httpapi.ServerLog
	done chan struct{} // closed when it has ended; nil before start
}

// listen takes the port. All who reach it can read metrics, so a line warns of one that other
// machines can reach.
func (f AdminFlags) listen(ctx context.Context, scraped *telemetry.Prometheus, api http.Handler, log *slog.Logger) (*adminListener, error) {
	on, err := listenOn(ctx, "--admin-listen", f.AdminListen)
	if err != nil {
		return nil, err
	}
	loopback := isLoopback(on.Addr())
	if !loopback {
		log.Warn("other machines can read the metrics of this process, unless a firewall is in between: "+
			"--admin-listen 127.0.0.1:PORT shows them to this one alone", "address", on.Addr().String())
	}
	said := httpapi.NewServerLog(log)
	server := &http.Server{
		Handler:           telemetry.NewAdmin(telemetry.AdminOptions{Metrics: scraped, API: api, FromHere: auth.FromHere, Loopback: loopback}),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: telemetry.AdminWriteTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeaderBytes, ErrorLog: said.Logger(),
	}
	return &adminListener{on: httpapi.NewConnections(telemetry.AdminConnections, 0).Bound(server, on), said: said, http: server}, nil
}

func (l *adminListener) start(log *slog.Logger) {
	if l == nil {
		return
	}
	log.Info("operators are answered", "address", l.on.Addr().String())
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		_ = l.http.Serve(l.on) // it ends with close
	}()
}

// close ends the server at once: nothing that it answers has to be answered to its end.
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
