// Package httpapi is the HTTP face of the service: the GraphQL endpoint, the explorer, and what those who run the server
// ask of it.
package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/httpapi/coercion"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/loaders"
)

// Bounds that hold unless Options say otherwise. A page of a shop asks for one to three kilobytes.
const (
	// DefaultMaxBody is 64 KiB.
	DefaultMaxBody = 64 << 10
	// DefaultMaxQuery is 16 KiB.
	DefaultMaxQuery = 16 << 10
	// DefaultMaxInFlight is what fits into the connections to the table that are kept open.
	DefaultMaxInFlight = 256
	// DefaultMaxUnsent is 64 MiB: eight of the largest answers, or some thousand pages.
	DefaultMaxUnsent = 64 << 20
	// DefaultMaxArriving is 32 MiB: 300 of the largest requests, or some two thousand.
	DefaultMaxArriving = 32 << 20
	// DefaultMaxConnections is enough for proxies, which share theirs, and for a shop's browsers without one.
	DefaultMaxConnections = 1024
)

const (
	// documents is how many parsed documents are kept, so that a client which sends the same ones has them parsed once.
	documents = 256
)

// Options are what the handler needs.
type Options struct {
	// Schema answers operations. Required.
	Schema graphql.ExecutableSchema
	// Fields stands around each field, inside of the limits. If not provided, nothing does.
	Fields graphql.FieldMiddleware
	// ErrorPresenter makes the errors that clients see. Required.
	ErrorPresenter graphql.ErrorPresenterFunc
	// Comments fetches comments for the loaders of each request. Required.
	Comments loaders.CommentGetter
	// Stats fetches statistics for the loaders of each request. Required.
	Stats loaders.StatsGetter
	// Freshness tells how fresh those statistics are. If not provided, nobody is told.
	Freshness loaders.Freshness
	// Limits bound what a request may cost, beyond the size of its body. If not provided, limits.Default().
	Limits limits.Limits
	// Prices are what reading costs, for those limits. Required.
	Prices limits.Prices
	// NoIntrospection refuses questions about the schema, and names nothing of it in errors.
	NoIntrospection bool
	// Authenticate notes who a request comes from, for those who decide what it may do. If not provided, nobody.
	Authenticate func(http.Handler) http.Handler
	// Pages serves the pages for people: everything that is not the API. Required.
	Pages http.Handler
	// Ready returns an error while requests cannot be answered. Required.
	Ready func(context.Context) error
	// OperationTimeout bounds the work for one request. Required.
	OperationTimeout time.Duration
	// Logger gets what went wrong. Required.
	Logger *slog.Logger
	// MaxBody bounds the body of a request, in bytes. If not provided, DefaultMaxBody.
	MaxBody int
	// MaxQuery bounds the text of an operation, and the parameters of a GET all together, in bytes. If not provided,
	// DefaultMaxQuery.
	MaxQuery int
	// MaxInFlight bounds how many requests to the API are worked on at a time. If not provided, DefaultMaxInFlight.
	MaxInFlight int
	// MaxUnsent bounds the answers that clients have yet to read, in bytes: beyond it, the connections that keep most
	// waiting for longest are closed. That needs Connections, and a server whose WriteTimeout is set. If not provided,
	// DefaultMaxUnsent.
	MaxUnsent int
	// Connections bounds the connections that requests come over, and what is arriving there. If not provided, of connections
	// none is closed, and of what arrives DefaultMaxArriving is taken.
	Connections *Connections
	// HSTSAge tells browsers for how long to come by HTTPS only, in answers over TLS. Zero tells them nothing.
	HSTSAge time.Duration
	// Origins are those whose pages may ask the API and read its answers. If not provided, only pages of this server may.
	Origins []Origin

	unsent *budget
}

// New makes the handler of all paths.
func New(o Options) http.Handler {
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxQuery = cmp.Or(o.MaxQuery, DefaultMaxQuery)
	o.MaxInFlight = cmp.Or(o.MaxInFlight, DefaultMaxInFlight)
	o.unsent = newBudget(cmp.Or(o.MaxUnsent, DefaultMaxUnsent))
	if o.Connections == nil {
		o.Connections = NewConnections(0, 0)
	}
	if o.Limits == (limits.Limits{}) {
		o.Limits = limits.Default()
	}
	mux := http.NewServeMux()
	mux.Handle("/graphql", o.around(newGraphQL(o)))
	mux.Handle("GET /healthz", o.light(http.HandlerFunc(healthy)))
	mux.Handle("GET /readyz", o.light(o.readiness()))
	mux.Handle("/", o.light(o.Pages))
	return o.entered(o.strict(withRequestID(mux)))
}

// entered notes which connections have a request.
func (o Options) entered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer o.Connections.enter(o.Connections.of(r.Context()))()
		next.ServeHTTP(w, r)
	})
}

// around wraps the API in all that is done with a request before it is run, and with its answer after. The first of the list
// is the outermost.
func (o Options) around(api http.Handler) http.Handler {
	layers := []func(http.Handler) http.Handler{
		headAsGet,       // before whatever looks at the method
		o.cors,          // before whatever refuses, so that an allowed page can read why it was refused
		negotiated,      // before whatever refuses, which writes in the type that is settled here; preflights have none
		o.builtFirst,    // outside of whatever writes a body, and of the place, which an answer does not hold while a client reads it
		refuseTwice,     // before whatever reads these headers
		refuseCrossSite, // after cors, which it asks for its verdict
		o.withBody,      // inside of builtFirst, which counts its refusals too
		o.withPlace,     // after the body, which may take its time
		compressed,      // inside of the place: it takes processor time
		o.withRequest,
	}
	if o.Authenticate != nil {
		layers = append(layers, o.Authenticate)
	}
	for _, layer := range slices.Backward(layers) {
		api = layer(api)
	}
	return api
}

// newGraphQL sets every transport and extension by hand: the library's default server is not meant for production.
func newGraphQL(o Options) http.Handler {
	withoutDefer(o.Schema.Schema())
	server := handler.New(o.Schema)
	server.AddTransport(transport{maxQuery: o.MaxQuery})
	server.SetErrorPresenter(o.ErrorPresenter)
	server.SetRecoverFunc(recoverPanic)
	o.bound(server)
	if o.Fields != nil {
		server.AroundFields(o.Fields) // after the limits, which are outside of all others then
	}
	return server
}

// bound applies the limits, and lets the schema be looked at or not.
func (o Options) bound(server *handler.Server) {
	cache := lru.New[*ast.QueryDocument](documents)
	server.SetQueryCache(cache)
	server.Use(&limits.Guard{Limits: o.Limits, Prices: o.Prices, Documents: cache, NoIntrospection: o.NoIntrospection})
	server.SetValidationRulesFn(o.validationRules)
	server.Use(&coercion.Extension{Documents: cache, Rules: o.validationRules})
	server.SetDisableSuggestion(o.NoIntrospection) // or gqlgen would put suggestions back
	if !o.NoIntrospection {
		server.Use(extension.Introspection{})
	}
}

// validationRules are those that documents are validated by.
func (o Options) validationRules() *rules.Rules {
	if o.NoIntrospection {
		return coercion.ValidationRules(limits.RulesWithoutSuggestions())
	}
	return coercion.ValidationRules(rules.NewDefaultRules())
}

// withRequest gives each request what belongs to it alone: a bound on its time, its loaders, and the account of what it
// takes, which is closed once its answer is made.
func (o Options) withRequest(next http.Handler) http.Handler {
	pool := usage.NewPool(o.Limits.ProcessTextBytes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), o.OperationTimeout)
		defer cancel()
		account := pool.Open(o.Limits.TextBytes)
		defer account.Close()
		load := loaders.New(o.Comments, o.Stats)
		load.TellFreshness(o.Freshness)
		ctx = usage.With(loaders.With(ctx, load), account)
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
