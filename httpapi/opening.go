package httpapi

import (
	"net/http"
	"sync/atomic"
)

// Opening answers in the place of a handler that is not there yet, from the moment on when the port is open: that the process
// lives, and why it is not ready. Safe for concurrent use.
type Opening struct {
	reason  atomic.Pointer[string]
	handler atomic.Pointer[http.Handler]
}

// NewOpening makes an Opening that tells a reason, a clause such as "the table is being opened".
func NewOpening(reason string) *Opening {
	o := &Opening{}
	o.Say(reason)
	return o
}

// Say changes the reason.
func (o *Opening) Say(reason string) { o.reason.Store(&reason) }

// Open has a handler answer from now on.
func (o *Opening) Open(handler http.Handler) { o.handler.Store(&handler) }

// ServeHTTP implements [http.Handler].
func (o *Opening) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handler := o.handler.Load(); handler != nil {
		(*handler).ServeHTTP(w, r)
		return
	}
	switch r.URL.Path {
	case "/healthz":
		healthy(w, r)
	case "/graphql":
		w.Header().Set("Content-Type", jsonType)
		notReady.with(*o.reason.Load()).write(w)
	default:
		w.Header().Set("Retry-After", "1")
		answer(w, http.StatusServiceUnavailable, "not ready: "+*o.reason.Load())
	}
}
