package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
)

// transport is GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/): one operation by GET or POST, one
// answer. The library's own differ from that draft in statuses, in what an error's answer holds, and in how they choose the
// answer's type.
type transport struct {
	// maxQuery bounds the text of an operation and the parameters of a GET, in bytes.
	maxQuery int
}

var _ graphql.Transport = transport{}

// Supports takes every request: whatever no other transport took is answered or refused here.
func (transport) Supports(*http.Request) bool { return true }

// Do answers one request. Its statuses are for machines between us and the client as much as for the client. Of a type that
// any server on the way may have made up, plain JSON, a client believes what the body says, so that is 200 whenever the request
// could be read. The GraphQL type is ours for certain, so it can say 400 for an operation that was refused before it
// ran. What HTTP refuses has its own status with either.
func (t transport) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	switch r.Method {
	case http.MethodGet, http.MethodPost:
	case http.MethodOptions:
		w.Header().Del("Content-Type")
		w.Header().Set("Allow", methods)
		w.WriteHeader(http.StatusNoContent)
		return
	default:
		badMethod.write(w)
		return
	}
	params, refused := t.readParams(r)
	if refused != nil {
		refused.write(w)
		return
	}
	response, refused := run(r, exec, params)
	if refused != nil {
		refused.write(w)
		return
	}
	if r.Method == http.MethodGet && len(response.Errors) == 0 {
		w.Header().Set("Cache-Control", revalidate)
	}
	if response.Data == nil && w.Header().Get("Content-Type") == graphQLType {
		w.WriteHeader(withoutData(r.Context()))
	}
	write(w, response)
}

// withoutData is the status of an answer without data: the operation was wrong, or its time was over before it began.
func withoutData(ctx context.Context) int {
	if ctx.Err() != nil {
		return http.StatusServiceUnavailable
	}
	return http.StatusBadRequest
}

// run runs an operation. A GET runs queries only, so that a link or a prefetch changes nothing.
func run(r *http.Request, exec graphql.GraphExecutor, params *graphql.RawParams) (*graphql.Response, *refusal) {
	operation, errs := exec.CreateOperationContext(r.Context(), params)
	if r.Method == http.MethodGet && kindOf(operation, params) != ast.Query {
		return nil, changeByGET
	}
	if len(errs) > 0 {
		return exec.DispatchError(graphql.WithOperationContext(r.Context(), operation), errs), nil
	}
	next, ctx := exec.DispatchOperation(r.Context(), operation)
	if response := next(ctx); response != nil {
		return response, nil
	}
	// There is no response only when the context ended before the operation began.
	return exec.DispatchError(ctx, gqlerror.List{gqlerror.Wrap(context.Cause(ctx))}), nil
}

// peekTokens bounds the look at an operation that was refused. No honest one is longer.
const peekTokens = 1000

// kindOf is whether an operation is a query or something else. An operation that was refused is looked at again: a mutation by GET
// is told the cure for that first, whatever else is wrong with it. What cannot be parsed counts as a query.
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

// write writes a response. The data is JSON already and by far the most of it, so it is neither encoded again nor copied.
// It is absent, not null, when the operation was refused before it ran.
func write(w io.Writer, response *graphql.Response) {
	separator := "{"
	member := func(name string, value []byte) {
		_, _ = io.WriteString(w, separator+`"`+name+`":`) // a client that went away needs no answer
		_, _ = w.Write(value)
		separator = ","
	}
	if len(response.Errors) > 0 {
		member("errors", mustJSON(response.Errors))
	}
	if response.Data != nil {
		member("data", response.Data)
	}
	if len(response.Extensions) > 0 {
		member("extensions", mustJSON(response.Extensions))
	}
	_, _ = io.WriteString(w, "}")
}

// mustJSON is for what this service itself put into a response. A panic becomes an answer in gqlgen's server.
func mustJSON(value any) []byte {
	out, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return out
}
