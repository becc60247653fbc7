package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// openingPatience is how long a request waits for the handler. A proxy that does not ask whether a
	// server is ready sends requests as soon as the port is open.
	openingPatience = 5 * time.Second
	// openingPlaces is how many requests may wait for the handler. Their bodies are not read yet.
	openingPlaces = 256
)

// Opening answers from the moment the port is open until there is a handler. It says that the
// process is alive, and why it is not ready. Other requests than probes wait for the handler first,
// if there is room. Safe for concurrent use.
type Opening struct {
	reason  atomic.Pointer[string]
	handler atomic.Pointer[http.Handler]
	places  chan struct{} // taken by requests that wait
	opened  chan struct{} // closed when there is a handler
}

// NewOpening returns an Opening with a reason, a clause such as "the table is being opened".
func NewOpening(reason string) *Opening {
	o := &Opening{places: make(chan struct{}, openingPlaces), opened: make(chan struct{})}
	o.Say(reason)
	return o
}

// Say changes the reason.
func (o *Opening) Say(reason string) { o.reason.Store(&reason) }

// Open lets a handler answer from now on. It is called once.
func (o *Opening) Open(handler http.Handler) {
	o.handler.Store(&handler)
	close(o.opened)
}

// ServeHTTP implements [http.Handler].
func (o *Opening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if o.handler.Load() == nil && r.URL.Path != "/healthz" && r.URL.Path != "/readyz" {
		o.await(r.Context())
	}
	if handler := o.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case "/healthz":
		readOnly(healthy).ServeHTTP(w, r)
	case graphQLPath:
		w.Header().Set("Content-Type", jsonType)
		notReady.with(*o.reason.Load()).write(w)
	default:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, "not ready: "+*o.reason.Load())
	}
}

// await waits for the handler, but not for long, and with a bounded number of others.
func (o *Opening) await(ctx context.Context) {
	select {
	case o.places <- struct{}{}:
		defer func() { <-o.places }()
	default:
		return
	}
	ctx, cancel := context.WithTimeout(ctx, openingPatience)
	defer cancel()
	select {
	case <-o.opened:
	case <-ctx.Done():
	}
}

const (
	// readyTimeout bounds a check of the table, so that a probe is answered before it gives up.
	readyTimeout = 2 * time.Second
	// readyAge is how long the result of a check holds. Each load balancer probes every few seconds.
	readyAge = time.Second
)

// readOnly answers GET and HEAD, and refuses other methods. Patterns with a method would leave
// these to the handler of all other paths.
func readOnly(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			answer(w, http.StatusMethodNotAllowed, "405 method not allowed")
			return
		}
		next(w, r)
	})
}

// healthy answers that the process runs.
func healthy(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "ok")
}

// readiness answers whether requests can be served: whether the table exists and has the expected
// keys and indexes, and the server is not about to end. The reason why not goes to the log, not
// into the answer. The table is checked at most once in readyAge, however many probes arrive: the
// path is open to everyone, and each check is a call that AWS throttles and bills.
func readiness(ready func(context.Context) error, connections *Connections, logger *slog.Logger) http.HandlerFunc {
	var checks singleflight.Group
	var failed error    // the result of the last check
	var until time.Time // when it no longer holds
	check := func() (any, error) {
		if time.Now().Before(until) {
			return nil, failed
		}
		// The check goes on when the probe that began it hangs up: others wait for it.
		ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
		defer cancel()
		if failed = ready(ctx); failed != nil {
			logger.Warn("not ready", "error", failed)
		}
		until = time.Now().Add(readyAge)
		return nil, failed
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if connections.stopping.Load() {
			w.Header().Set("Connection", "close")
			answer(w, http.StatusServiceUnavailable, "not ready: the server is stopping")
			return
		}
		var err error
		select {
		case found := <-checks.DoChan("", check):
			err = found.Err
		case <-r.Context().Done():
			err = r.Context().Err()
		}
		if err != nil {
			answer(w, http.StatusServiceUnavailable, "the table cannot be used; the log says why")
			return
		}
		answer(w, http.StatusOK, "ready")
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that went away needs no answer
}
