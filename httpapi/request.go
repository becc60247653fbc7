package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"runtime/debug"
)

const requestIDHeader = "X-Request-Id"

type requestIDKey struct{}

// RequestID is the id of the request that the context belongs to, by which the log and an answer refer to it. It is
// empty outside a request.
func RequestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// withRequestID gives each request an id of ours and tells it to the client. An id that a client sends is not taken
// over, since it would stand in the log.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := rand.Text()
		w.Header().Set(requestIDHeader, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

// recoverPanic makes an error out of a panic in a field, which fails that field alone.
func recoverPanic(_ context.Context, cause any) error {
	return fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
}
