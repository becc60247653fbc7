// Package httpapi serves the API over HTTP: the GraphQL endpoint, health and readiness, and the
// pages it is given. It bounds the requests and answers of each connection, and lets in no more
// requests at once than the server handles well (limiter.go). Variables and arguments get the types
// of the schema (coercion.go). Clients may name operations instead of sending their texts
// (trusted.go, automatic.go). The events of subscriptions leave by graphql-transport-ws over
// WebSocket (websocket.go), as server-sent events, or as the parts of a multipart answer as
// Apollo's clients read it (streamforms.go).
package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"

	"github.com/talkback/talkback/internal/usage"
)

// New returns the handler of all paths.
func New(o Options) http.Handler {
	o = o.withDefaults()
	sender := &sender{connections: o.Connections, unsent: newBudget(o.MaxUnsent)}
	mux := http.NewServeMux()
	withoutDefer(o.Schema.Schema())
	if s := o.Subscriptions; s != nil {
		s.Timing = s.Timing.withDefaults()
		s.connections, s.subscriptions = newPlaces(s.Max, s.PerClient), newPlaces(s.Max, s.PerClient)
	}
	api := o.around(&transport{o, newExecutor(o), usage.NewPool(o.Limits.ProcessTextBytes), newSharedAnswers(o.Unchanged), sender.unsent}, sender)
	mux.Handle("/healthz", sender.light(readOnly(healthy)))
	mux.Handle("/readyz", sender.light(readOnly(readiness(o.Ready, o.Connections, o.Logger))))
	mux.Handle("/", sender.light(o.Pages(recordedInside(o.observed(api, true)))))
	mux.Handle(graphQLPath, api)
	return strict(o.HSTSAge)(recorded(o.observed(mux, false)))
}

// around wraps the API in everything that happens to a request before it is executed, and to its
// answer afterwards. The first layer of each list is the outermost.
func (o Options) around(api http.Handler, sender *sender) http.Handler {
	place := withPlace(o.Concurrency, o.OperationTimeout, o.Connections)
	overSocket := through(api, refused(sender.checkUnread, checkBody(o.MaxBody, o.Connections)), o.Authenticate, o.Clients.perClient, place)
	return through(
		api,
		allow(o.Origins),              // before everything that refuses, so that an allowed page can read why
		negotiated,                    // before everything that refuses, since it sets the type, or looks at the method
		o.sockets(overSocket, sender), // outside of builtFirst, since a socket goes on after an answer
		// Outside of everything that writes a body, and of the place, which is free again while a
		// client reads.
		sender.builtFirst,
		// Inside builtFirst, which counts refusals too. The load early, since it takes no time; the
		// site after allow, whose verdict it uses.
		refused(sender.checkUnread, checkFields, checkLoad(o.Concurrency, o.Connections), checkSingle, checkSite, checkSocket, checkBody(o.MaxBody, o.Connections)),
		o.Authenticate,      // before the limits of clients, which depend on it
		o.Clients.perClient, // before the place, which others wait for
		place,               // after the body, which may arrive slowly
		compressed,          // inside the place: it takes processor time
	)
}

// through wraps a handler in layers, the outermost first.
func through(handler http.Handler, layers ...func(http.Handler) http.Handler) http.Handler {
	for _, layer := range slices.Backward(layers) {
		handler = layer(handler)
	}
	return handler
}

// schemas guards changes of a schema, which all servers of a process share.
var schemas sync.Mutex

// withoutDefer removes @defer from a schema, so that validation refuses it with a clear error.
// gqlgen always declares it, but this transport does not stream: deferred fields would be missing
// from the answer.
func withoutDefer(schema *ast.Schema) {
	schemas.Lock()
	defer schemas.Unlock()
	if schema.Directives["defer"] != nil { // no needless write: another server may be reading
		delete(schema.Directives, "defer")
	}
}

// strict tells browsers that came by HTTPS to use HTTPS only, until age has passed (RFC 6797). Zero
// sets no header. Browsers ignore the header over plain HTTP, so a proxy that terminates TLS has to
// set it.
func strict(age time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if age <= 0 {
			return next
		}
		value := fmt.Sprintf("max-age=%d", age/time.Second)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.TLS != nil {
				w.Header().Set("Strict-Transport-Security", value)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// DocumentCheck returns a function that returns an error if a document cannot run on a server with
// these options, whatever its variables are.
func DocumentCheck(o Options) func(text string) error {
	o = o.withDefaults()
	schema := o.Schema.Schema()
	withoutDefer(schema)
	return func(text string) error {
		switch {
		case !wholePairs(text):
			return halfPair
		case len(text) > o.MaxQuery:
			return fmt.Errorf("it is longer than %d bytes: raise --max-query", o.MaxQuery)
		}
		if err := o.Limits.CheckQuery(text); err != nil {
			return errors.New(err.Message)
		}
		document, err := parser.ParseQuery(&ast.Source{Input: text})
		if err != nil {
			sayWhy(err, text)
			return err
		}
		if len(document.Operations) == 0 {
			return errors.New("it has no operation")
		}
		if errs := validator.ValidateWithRules(schema, document, o.validationRules()); len(errs) > 0 {
			return errs[0]
		}
		return nil
	}
}
