package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"
)

const requestIDHeader = "X-Request-Id"

// request is the record of a request. The layers fill it in, for themselves and for layers further
// inside. It is also the context of the request: a context for each field, with a copy of the
// [http.Request] for each context, would cost more.
type request struct {
	context.Context // as net/http made it

	id       string
	exchange *Exchange       // nil if the request is not observed
	limited  *limitedRequest // nil if its client is not limited
	body     []byte          // the body of a POST, once it has arrived
	inside   bool            // a page of this server made the request
	units    float64         // read from the table, once the answer is built
	writes   int             // how many comments the operation wrote, once the answer is built

	documentID string     // the id of a document that the client names instead of sending it
	extensions extensions // of the request

	shared *sharedAnswer // the answer that shared caches may keep; nil if they may not

	head   bool    // the client sent a HEAD
	socket bool    // the operation came over a WebSocket
	stream pending // the subscription that the operation began, else nil
}

// extensions are the extensions of a request that this server knows. All others are dropped: as
// long as a subscription lasts, they would take dozens of times the memory of their text.
type extensions struct {
	position   *string // after which a subscription resumes, empty for events from now on; nil if there is none
	noPosition bool    // since that is no string
	hash       string  // of Apollo's protocol, empty if there is none
	noHash     bool    // since that extension is malformed
}

// pending is an answer that is sent over a long time. It begins once its request has released its
// place, and everything else that others wait for.
type pending interface {
	streamSource
	send(w http.ResponseWriter, r *http.Request, stopping context.Context)
}

type requestKey struct{}

// Value implements [context.Context].
func (r *request) Value(key any) any {
	if key == (requestKey{}) {
		return r
	}
	return r.Context.Value(key)
}

// requestOf returns the record of a request. Outside a request it returns an empty one, which
// nobody else sees.
func requestOf(ctx context.Context) *request {
	if known, ok := ctx.Value(requestKey{}).(*request); ok {
		return known
	}
	return &request{Context: ctx}
}

// RequestID returns the id under which the log and the answer refer to the request of a context. It
// is empty outside a request.
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// newRequest returns a record with a random id.
func newRequest(ctx context.Context) *request { return &request{Context: ctx, id: rand.Text()} }

// recorded gives each request a record with a random id, and tells the id to the client. It ignores
// an id that the client sends, which would otherwise get into the log.
func recorded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := newRequest(r.Context())
		known.head = r.Method == http.MethodHead
		w.Header().Set(requestIDHeader, known.id)
		next.ServeHTTP(w, r.WithContext(known))
	})
}

// recordedInside gives a request that a page of this server makes a record of its own, with the id
// of the request for the page.
func recordedInside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(&request{Context: r.Context(), id: RequestID(r.Context()), inside: true}))
	})
}
