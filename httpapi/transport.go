package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/loaders"
)

// transport implements GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/): one
// operation by GET or POST, one answer. gqlgen's transports differ from that draft in statuses, in
// the content of answers with errors, and in how they choose the type of the answer.
type transport struct {
	Options
	executor *executor.Executor
	texts    *usage.Pool // the memory of the texts of all operations
	shared   *sharedAnswers
	unsent   *budget // of the sender
}

// ServeHTTP implements [http.Handler]. Each request has its own loaders, and its own account of
// reads and memory, which is closed once the answer is built.
func (t *transport) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	account := t.texts.Open(t.Limits.TextBytes)
	defer account.Close()
	ctx, known := usage.With(loaders.With(r.Context(), t.Loaders), account), requestOf(r.Context())
	defer func() {
		known.units, known.writes = account.Units(), account.Writes()
		known.limited.settle(ctx, known.units)
	}()
	defer t.recovered(ctx, w)
	if r.Method == http.MethodOptions {
		w.Header().Del("Content-Type")
		w.Header().Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	params, refused := readParams(r, t.MaxQuery)
	var response *graphql.Response
	if refused == nil {
		response, refused = t.run(r.WithContext(ctx), params)
	}
	switch {
	case refused != nil:
		refused.write(w)
		return
	case known.stream != nil:
		return
	case known.shared.confirmed():
		edge.Sharing(t.SharedFor).Allow(w.Header(), known.shared.products)
		w.Header().Set("ETag", known.shared.key.tag)
		w.Header().Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
		return
	case t.Subscriptions != nil && onlyEvents(r.Header): // the answer is one event, and the end
		w.Header().Set("Content-Type", eventStream.contentType)
		_ = answerOf(response).writeBetween(w, "event: next\ndata: ", "\n\n"+completeEvent)
		return
	}
	if r.Method == http.MethodGet && len(response.Errors) == 0 {
		t.cache(r, w.Header(), loaders.From(ctx))
	}
	respond(ctx, w, response)
}

// respond answers with a response. Clients, and proxies before them, read the status.
//
// An answer in plain JSON has the status 200 whenever the request could be read: any server on the
// way may send plain JSON with another status, so clients rely on the body. Only a GraphQL server
// sends the GraphQL type, so there the status is 400 for an operation that was refused before it
// ran. A refusal has the same status in both types.
func respond(ctx context.Context, w http.ResponseWriter, response *graphql.Response) {
	if response.Data == nil && w.Header().Get("Content-Type") == graphQLType {
		status := http.StatusBadRequest // the operation was refused
		if ctx.Err() != nil {           // or its time was over before it began
			status = http.StatusServiceUnavailable
		}
		w.WriteHeader(status)
	}
	write(w, response)
}

// forAll reports whether everyone may get the same answer to a request, so that its ETag is worth
// remembering. Requests with an Authorization header do not qualify, whatever it holds, nor those
// of this server's pages.
func (t *transport) forAll(r *http.Request) bool {
	_, token := r.Header["Authorization"]
	known := requestOf(r.Context())
	return t.shared != nil && t.SharedFor > 0 && r.Method == http.MethodGet && !token && !known.inside && !known.socket
}

// cache sets where a successful answer to a GET may be cached, and notes the products of one that
// may be shared.
//
// No cache may keep the answer to a request with an Authorization header, whatever it holds. Caches
// may share other answers that do not depend on the caller, as the resolvers report.
func (t *transport) cache(r *http.Request, answer http.Header, about *loaders.Loaders) {
	if _, sent := r.Header["Authorization"]; sent {
		answer.Set("Cache-Control", nowhere)
		return
	}
	products, forAll := about.Subject()
	if !forAll || !edge.Sharing(t.SharedFor).Allow(answer, products) {
		answer.Set("Cache-Control", revalidate)
		return
	}
	if shared := requestOf(r.Context()).shared; shared != nil {
		shared.products = products
	}
}

// recovered answers a request whose handling panics. It is to be deferred.
func (t *transport) recovered(ctx context.Context, w http.ResponseWriter) {
	cause := recover()
	if cause == nil {
		return
	}
	err := gqlerror.WrapIfUnwrapped(t.executor.PresentRecoveredError(ctx, cause))
	w.WriteHeader(http.StatusInternalServerError)
	write(w, &graphql.Response{Errors: gqlerror.List{err}, Data: []byte("null")})
}

// run runs an operation. A GET changes nothing, so that no link or prefetch does. If it begins a
// subscription, the record of the request has the stream, and the response is empty.
func (t *transport) run(r *http.Request, params *graphql.RawParams) (*graphql.Response, *refusal) {
	ctx := r.Context()
	operation, errs := t.executor.CreateOperationContext(graphql.StartOperationTrace(ctx), params)
	known, kind := requestOf(ctx), kindOf(operation, params)
	switch {
	case r.Method == http.MethodGet && kind == ast.Mutation:
		return nil, changeByGET
	case len(errs) == 1 && errs[0].Extensions["code"] == badShape.code: // of what names the document
		refused := *badShape
		refused.message = errs[0].Message
		return nil, &refused
	case kind != ast.Subscription || len(errs) > 0:
	case t.Subscriptions == nil:
		return nil, noSubscriptions
	case !known.socket && streamFormOf(r.Header) == nil:
		return nil, needsStream
	}
	if v := known.limited; v != nil && v.refused != nil {
		return nil, v.refused
	}
	e, began := cmp.Or(known.exchange, new(Exchange)), time.Now() // nobody sees one that is new
	if operation.Operation != nil {
		e.Name, e.Operation = operation.Operation.Name, string(operation.Operation.Operation)
	}
	if len(errs) == 0 && t.forAll(r) {
		known.shared = t.shared.record(r, operation, began)
	}
	ctx, span := usage.BeginOperation(graphql.WithOperationContext(ctx, operation), e.Operation, e.Name)
	var response *graphql.Response
	switch {
	case len(errs) > 0:
	case known.shared.confirmed():
		response = &graphql.Response{}
	case kind == ast.Subscription:
		var refused *refusal
		if response, refused = (subscriber{&t.Options, t.executor, t.texts, t.unsent}).subscribe(ctx, r, operation); refused != nil {
			e.end(span)
			return nil, refused
		}
		if known.stream != nil {
			response = &graphql.Response{}
		}
	default:
		respond, ctx := t.executor.DispatchOperation(ctx, operation)
		if response = respond(ctx); response == nil { // its time is over
			errs = gqlerror.List{gqlerror.Wrap(context.Cause(ctx))}
		}
	}
	switch {
	case len(errs) != 1:
	case operation.Doc == nil:
		sayWhy(errs[0], params.Query)
	case operation.Operation == nil && operation.OperationName == "":
		errs[0].Message = fmt.Sprintf("the query has %d operations: name the one to run as \"operationName\"", len(operation.Doc.Operations))
	case operation.Operation == nil:
		errs[0].Message = fmt.Sprintf("the query has no operation %.100q: send the name of one as \"operationName\"", operation.OperationName)
	}
	if response == nil {
		others, _ := operation.Stats.GetExtension(coercionName).(gqlerror.List) // MutateOperationParameters returned only the first
		response = t.executor.DispatchError(ctx, append(errs, others...))
	}
	e.note(ctx, response)
	e.Ran = time.Since(began)
	e.end(span)
	return response, nil
}

// sayWhy gives the error about a text that cannot be parsed the message of the lexer, if there is
// one. The parser says only that it did not expect what cannot be read.
func sayWhy(err error, text string) {
	refused, ok := errors.AsType[*gqlerror.Error](err)
	if !ok || !strings.Contains(refused.Message, lexer.Invalid.String()) {
		return
	}
	for reader := lexer.New(&ast.Source{Input: text}); ; {
		token, err := reader.ReadToken()
		if err, ok := errors.AsType[*gqlerror.Error](err); ok {
			refused.Message = err.Message
			// Of a character beyond ASCII, the lexer names the first byte, as if it were one.
			if runes, at := []rune(text), token.Pos.End; at < len(runes) && runes[at] >= utf8.RuneSelf {
				first := string(rune(string(runes[at])[0]))
				refused.Message = strings.NewReplacer(`"`, "", first, fmt.Sprintf("%q (%U)", string(runes[at]), runes[at])).Replace(err.Message)
			}
		}
		if err != nil || token.Kind == lexer.EOF {
			return
		}
	}
}

// peekTokens bounds the parsing of an operation that was refused. Real ones are shorter.
const peekTokens = 1000

// kindOf returns the kind of an operation. It parses a refused operation again, so that the answer
// to a mutation by GET is to use POST, whatever else is wrong. A text that cannot be parsed counts
// as a query.
func kindOf(operation *graphql.OperationContext, params *graphql.RawParams) ast.Operation {
	if operation.Operation != nil {
		return operation.Operation.Operation
	}
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: params.Query}, peekTokens)
	if err != nil {
		return ast.Query
	}
	if definition := document.Operations.ForName(params.OperationName); definition != nil {
		return definition.Operation
	}
	return ast.Query
}

// write writes a response.
func write(w io.Writer, response *graphql.Response) {
	_ = answerOf(response).writeBetween(w, "", "") // a client that went away needs no answer
}
