package httpapi

import (
	"cmp"
	"net/http"
	"time"
)

// observed reports every request that a handler answers to the observers. inside says that these
// come from pages of this server.
func (o Options) observed(next http.Handler, inside bool) http.Handler {
	if len(o.Observers) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &Exchange{ID: RequestID(r.Context()), Method: r.Method, Route: routeOf(r.URL.Path), Scheme: "http", Inside: inside, Began: time.Now()}
		if r.TLS != nil {
			e.Scheme = "https"
		}
		requestOf(r.Context()).exchange = e
		for _, observer := range o.Observers {
			// Most return the context that they are given, for which the request need not be copied.
			if ctx := observer.Began(r, e); ctx != r.Context() {
				r = r.WithContext(ctx)
			}
		}
		answer := &observedAnswer{ResponseWriter: w, exchange: e}
		defer func() { // also when the connection is given up, by a panic
			e.Took = cmp.Or(e.Took, time.Since(e.Began))
			e.settle()
			for _, observer := range o.Observers {
				observer.Ended(r.Context(), e)
			}
		}()
		next.ServeHTTP(answer, r)
		e.Status = cmp.Or(e.Status, http.StatusOK)
	})
}
