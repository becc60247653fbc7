package httpapi

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/singleflight"
)

const (
	// readyTimeout bounds a check of the table, so that a probe is answered before it gives up.
	readyTimeout = 2 * time.Second
	// readyAge is for how long the result of a check holds. Each load balancer probes every few
	// seconds.
	readyAge = time.Second
)

// healthy answers that the process runs.
func healthy(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "ok")
}

// readiness answers whether requests can be served: whether the table exists and has the expected
// keys and indexes, and the server is not about to end. Why not is logged, not answered.
func readiness(ready func(context.Context) error, connections *Connections, logger *slog.Logger) http.Handler {
	table := &tableCheck{ask: ready, log: logger}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if connections.stopping.Load() {
			w.Header().Set("Connection", "close")
			answer(w, http.StatusServiceUnavailable, "not ready: the server is stopping")
			return
		}
		if err := table.ready(r.Context()); err != nil {
			answer(w, http.StatusServiceUnavailable, "the table cannot be used; the log says why")
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

// tableCheck checks the table at most once in readyAge, however many probes arrive. The path is
// open to everyone, and each check is a call that AWS throttles and bills. Safe for concurrent use.
type tableCheck struct {
	ask func(context.Context) error
	log *slog.Logger

	flight singleflight.Group
	// Used by the flight only.
	err   error
	until time.Time
}

// ready returns why the table cannot be used, or nil. The check goes on when the probe that began
// it hangs up: others wait for it, and its result does not depend on the probe.
func (c *tableCheck) ready(ctx context.Context) error {
	select {
	case found := <-c.flight.DoChan("", c.check):
		return found.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// check returns the last result while it holds, and checks the table otherwise.
func (c *tableCheck) check() (any, error) {
	if time.Now().Before(c.until) {
		return nil, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	if c.err = c.ask(ctx); c.err != nil {
		c.log.Warn("not ready", "error", c.err)
	}
	c.until = time.Now().Add(readyAge)
	return nil, c.err
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that went away needs no answer
}
