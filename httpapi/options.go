package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/loaders"
)

// Defaults of the bounds in Options. The query of a shop's page has one to three kilobytes.
const (
	// DefaultMaxBody is 64 KiB.
	DefaultMaxBody = 64 << 10
	// DefaultMaxQuery is 16 KiB.
	DefaultMaxQuery = 16 << 10
	// DefaultMaxInFlight is as many requests as the open connections to the table can carry. Usually
	// fewer are admitted: see [Limiter].
	DefaultMaxInFlight = 256
	// DefaultMaxUnsent is 64 MiB: eight of the largest answers, or some thousand pages.
	DefaultMaxUnsent = 64 << 20
)

// Options configure the handler.
type Options struct {
	// Schema answers operations. Required.
	Schema graphql.ExecutableSchema
	// Fields wraps each field, inside the limits. Optional.
	Fields graphql.FieldMiddleware
	// ErrorPresenter makes the errors that clients see. Required.
	ErrorPresenter graphql.ErrorPresenterFunc
	// Loaders configures the loaders of each request. Required.
	Loaders loaders.Options
	// Limits bound what a request may cost, beyond the size of its body. The default is
	// limits.Default().
	Limits limits.Limits
	// NoIntrospection refuses queries of the schema, and keeps its names out of errors.
	NoIntrospection bool
	// Authenticate finds out who sent a request. Without it, every request is anonymous.
	Authenticate func(http.Handler) http.Handler
	// Pages makes the handler of everything that is not the API: the pages for people. It gets the API
	// with all its limits, for pages that call it. Required.
	Pages func(api http.Handler) http.Handler
	// Ready returns an error while requests cannot be answered. Required.
	Ready func(context.Context) error
	// OperationTimeout bounds the work for one request. Required.
	OperationTimeout time.Duration
	// Logger receives warnings and errors. Required.
	Logger *slog.Logger
	// MaxBody bounds the body of a request, in bytes. The default is DefaultMaxBody.
	MaxBody int
	// MaxQuery bounds the text of an operation, and all parameters of a GET together, in bytes. The
	// default is DefaultMaxQuery.
	MaxQuery int
	// Concurrency admits requests to the API. The default admits DefaultMaxInFlight at a time.
	Concurrency *Limiter
	// MaxUnsent bounds the answers that clients have not read yet, in bytes. Beyond it, the
	// connections that hold most bytes for longest are closed. This needs Connections, and a server
	// with a WriteTimeout. The default is DefaultMaxUnsent.
	MaxUnsent int
	// Connections bounds the connections of the server and the requests that arrive on them.
	// Without it no connection is closed, and requests that arrive are bounded by
	// DefaultMaxArriving.
	Connections *Connections
	// HSTSAge is how long browsers are to use HTTPS only. Answers over TLS announce it. Zero announces
	// nothing.
	HSTSAge time.Duration
	// Observers observe every request.
	Observers []Observer
	// Clients bounds what each client may use over time. Without it, clients are not limited.
	Clients *ClientLimits
	// Trusted are the documents that clients may name instead of sending them. Optional.
	Trusted *TrustedDocuments
	// Automatic remembers queries that clients register, where there are no trusted documents. Without
	// either, clients send every text.
	Automatic *AutomaticQueries
	// SharedFor is how long shared caches may keep answers to GETs that are the same for everyone. The
	// default lets them keep none.
	SharedFor time.Duration
	// Unchanged reports whether an answer about some products, begun at a time, is proven to be still
	// the same. Without it, the server builds each answer before it compares the ETag with a cache's.
	Unchanged func(products []string, began time.Time) bool
	// Subscriptions bounds subscriptions. Without it, there are none.
	Subscriptions *Subscriptions
	// Origins are those whose pages may call the API and read its answers. Without any, only pages
	// of this server may.
	Origins []Origin
}

// withDefaults returns the options with defaults in place of zero values.
func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, DefaultMaxBody)
	o.MaxQuery = cmp.Or(o.MaxQuery, DefaultMaxQuery)
	o.MaxUnsent = cmp.Or(o.MaxUnsent, DefaultMaxUnsent)
	o.Limits = cmp.Or(o.Limits, limits.Default())
	o.Concurrency = cmp.Or(o.Concurrency, NewLimiter(DefaultMaxInFlight, DefaultMaxInFlight))
	o.Connections = cmp.Or(o.Connections, NewConnections(0, 0))
	if o.Authenticate == nil {
		o.Authenticate = func(next http.Handler) http.Handler { return next }
	}
	return o
}
