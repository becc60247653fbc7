package httpapi

import (
	"net/http"
	"sync/atomic"
)

// Opening answers from the moment the port is open until there is a handler. It says that the
// process is alive, and why it is not ready. Safe for concurrent use.
type Opening struct {
	reason  atomic.Pointer[string]
	handler atomic.Pointer[http.Handler]
}

// NewOpening returns an Opening with a reason, a clause such as "the table is being opened".
func NewOpening(reason string) *Opening {
	o := &Opening{}
	o.Say(reason)
	return o
}

// Say changes the reason.
func (o *Opening) Say(reason string) { o.reason.Store(&reason) }

// Open lets a handler answer from now on.
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
