// Package httpapi is the HTTP face of the service: the GraphQL endpoint, the explorer, and what those who run the server
// ask of it.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/loaders"
)

const (
	// maxBody bounds the body of a request, in bytes.
	maxBody = 64 << 10
	// documents is how many parsed documents are kept, so that a client which sends the same ones has them parsed once.
	documents = 256
)

// Options are what the handler needs.
type Options struct {
	// Schema answers operations. Required.
	Schema graphql.ExecutableSchema
	// ErrorPresenter makes the errors that clients see. Required.
	ErrorPresenter graphql.ErrorPresenterFunc
	// Comments fetches comments for the loaders of each request. Required.
	Comments loaders.CommentGetter
	// Authenticate notes who a request comes from, for those who decide what it may do. Required.
	Authenticate func(http.Handler) http.Handler
	// Pages serves the pages for people: everything that is not the API. Required.
	Pages http.Handler
	// Ready returns an error while requests cannot be answered. Required.
	Ready func(context.Context) error
	// OperationTimeout bounds the work for one request. Required.
	OperationTimeout time.Duration
	// Logger gets what went wrong. Required.
	Logger *slog.Logger
}

// New makes the handler of all paths.
func New(o Options) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/graphql", o.Authenticate(o.withRequest(newGraphQL(o))))
	mux.Handle("GET /healthz", http.HandlerFunc(healthy))
	mux.Handle("GET /readyz", o.readiness())
	mux.Handle("/", o.Pages)
	return withRequestID(mux)
}

// newGraphQL sets every transport and extension by hand: the library's default server is not meant for production.
func newGraphQL(o Options) http.Handler {
	withoutDefer(o.Schema.Schema())
	server := handler.New(o.Schema)
	server.AddTransport(transport.Options{})
	server.AddTransport(transport.GET{})
	server.AddTransport(transport.POST{})
	server.SetQueryCache(lru.New[*ast.QueryDocument](documents))
	server.SetErrorPresenter(o.ErrorPresenter)
	server.SetRecoverFunc(recoverPanic)
	server.Use(extension.Introspection{})
	return server
}

// withRequest gives each request what belongs to it alone: a bound on its time and its size, and its loaders.
func (o Options) withRequest(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), o.OperationTimeout)
		defer cancel()
		ctx = loaders.With(ctx, loaders.New(o.Comments))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// schemas guards what is changed in a schema, which all servers of a process share.
var schemas sync.Mutex

// withoutDefer takes away @defer, which the library always declares: without a transport that streams, what is deferred
// would be missing from the answer. Undeclared, it is refused with a clear error.
func withoutDefer(schema *ast.Schema) {
	schemas.Lock()
	defer schemas.Unlock()
	if schema.Directives["defer"] != nil { // no needless write: requests to another server may be reading
		delete(schema.Directives, "defer")
	}
}
