package httpapi

import (
	"context"
	"io"
	"net/http"
	"time"
)

// readyTimeout bounds a look at the table, so that whoever asks is answered before he gives up.
const readyTimeout = 2 * time.Second

// healthy says that the process runs.
func healthy(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, "ok")
}

// readiness says whether requests can be answered: whether the table is there and has its shape. Why not is in the log
// alone.
func (o Options) readiness() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := o.Ready(ctx); err != nil {
			o.Logger.WarnContext(ctx, "not ready", "error", err)
			answer(w, http.StatusServiceUnavailable, "the table cannot be used; the log says why")
			return
		}
		answer(w, http.StatusOK, "ready")
	})
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n") // a client that went away needs no answer
}
