package httpapi

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

const (
	// openingPatience is for how long a request waits until there is a handler. A proxy that does not
	// ask whether a server is ready sends requests as soon as the port is open.
	openingPatience = 5 * time.Second
	// openingPlaces is how many requests may wait so. Their bodies are not read yet.
	openingPlaces = 256
)

// Opening answers from the moment the port is open until there is a handler. It says that the
// process is alive, and why it is not ready. Other requests than probes wait for the handler first, if
// there is room. Safe for concurrent use.
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
		healthy(w, r)
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
