// Package gateway answers the events by which AWS Lambda hands over HTTP requests: those of
// function URLs and of HTTP APIs of API Gateway, which have one form, and those of application load
// balancers.
package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// answerWithin is the time of an invocation that is reserved for the answer. A function that is cut
// off answers nothing, and its client would not learn of the timeout.
const answerWithin = 500 * time.Millisecond

// Gateway answers events with an [http.Handler]. It implements lambda.Handler, and is safe for
// concurrent use.
type Gateway struct {
	handler http.Handler
	log     *slog.Logger
}

// New returns a gateway to a handler. The logger receives its panics.
func New(handler http.Handler, logger *slog.Logger) *Gateway { return &Gateway{handler, logger} }

// Invoke answers an event. An event that holds no HTTP request fails with an error, which Lambda
// returns to the sender.
func (g *Gateway) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	f, err := formOf(payload)
	if err != nil {
		return nil, err
	}
	if end, bounded := ctx.Deadline(); bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-answerWithin))
		defer cancel()
	}
	a := &answer{header: http.Header{}}
	r, err := f.request(payload)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		a.refuse(refused)
	case err != nil:
		return nil, noRequest(payload)
	default:
		g.serve(a, r.WithContext(ctx))
	}
	sent, err := json.Marshal(f.response(a))
	if err != nil || len(sent) <= f.limit {
		return sent, err
	}
	larger := tooLarge
	larger.message = fmt.Sprintf(larger.message, f.limit>>20)
	a.refuse(&larger)
	return json.Marshal(f.response(a))
}

// serve calls the handler. It answers for a handler that panics: otherwise the process would end,
// and the next request would wait for a new one.
func (g *Gateway) serve(a *answer, r *http.Request) {
	defer func() {
		if fault := recover(); fault != nil {
			if fault != http.ErrAbortHandler {
				g.log.ErrorContext(r.Context(), "a request panicked", "error", task.Panicked(fault))
			}
			a.refuse(panicked)
		}
	}()
	g.handler.ServeHTTP(a, r)
	a.end(r.Method)
}
