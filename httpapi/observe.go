package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/telemetry/spans"
)

// observed tells the observers of every request that a handler answers. inside says that these come
// from pages of this server.
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
		r = o.began(r, e)
		answer := &observedAnswer{ResponseWriter: w, exchange: e}
		defer func() { // also when the connection is given up, by a panic
			e.Took = time.Since(e.Began)
			e.settle()
			for _, observer := range o.Observers {
				observer.Ended(r.Context(), e)
			}
		}()
		next.ServeHTTP(answer, r)
		if e.Status == 0 {
			e.Status = http.StatusOK
		}
	})
}

// began tells the observers that a request has begun, and returns the request with the context that
// they return. Most return the one that they are given, for which the request need not be copied.
func (o Options) began(r *http.Request, e *Exchange) *http.Request {
	for _, observer := range o.Observers {
		if ctx := observer.Began(r, e); ctx != r.Context() {
			r = r.WithContext(ctx)
		}
	}
	return r
}

// observing is an extension of the GraphQL server that notes what became of operations. It comes
// before the limits, so that it sees what they make of an answer.
type observing struct{}

var _ interface {
	graphql.HandlerExtension
	graphql.ResponseInterceptor
} = observing{}

// ExtensionName implements [graphql.HandlerExtension].
func (observing) ExtensionName() string { return "Observing" }

// Validate implements [graphql.HandlerExtension].
func (observing) Validate(graphql.ExecutableSchema) error { return nil }

// InterceptResponse implements [graphql.ResponseInterceptor].
func (observing) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	e := requestOf(ctx).exchange
	if e == nil {
		return next(ctx)
	}
	began := time.Now()
	e.recognize(ctx)
	ctx, span := spans.Operation(ctx, e.Operation, e.Name)
	response := next(ctx)
	if response != nil {
		e.note(ctx, response)
	}
	e.Ran = time.Since(began)
	e.end(span)
	return response
}
