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
	// readyTimeout bounds a look at the table, so that a probe is answered before it gives up.
	readyTimeout = 2 * time.Second
	// readyAge is how long the outcome of a look stands. Probes come every few seconds from each balancer.
	readyAge = time.Second
)

// healthy says that the process runs.
func healthy(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "ok")
}

// readiness says whether requests can be answered: whether the table is there and has its shape. The reason why not is in
// the log alone.
func (o Options) readiness() http.Handler {
	table := &tableCheck{ask: o.Ready, log: o.Logger}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := table.ready(r.Context()); err != nil {
			answer(w, http.StatusServiceUnavailable, "the table cannot be used; the log says why")
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

// tableCheck looks at the table at most once in readyAge, however many probes ask: the path is open to everyone, and each
// look is a call that AWS limits and counts. Safe for concurrent use.
type tableCheck struct {
	ask func(context.Context) error
	log *slog.Logger

	flight singleflight.Group
	// Only the flight touches these.
	err   error
	until time.Time
}

// ready returns why the table cannot be used, or nil. A look goes on when the probe that began it hangs up: others wait
// for it, and what it finds is the table's state and not the probe's.
func (c *tableCheck) ready(ctx context.Context) error {
	select {
	case found := <-c.flight.DoChan("", c.look):
		return found.Err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// look returns the last outcome while it stands, else asks.
func (c *tableCheck) look() (any, error) {
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
