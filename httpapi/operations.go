package httpapi

import (
	"context"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/httpapi/coercion"
	"github.com/talkback/talkback/httpapi/limits"
)

// operations makes the contexts of operations. gqlgen checks variables once more, by reflection,
// after this server has coerced them. So it makes the context only if the document is new, or if
// there is something to refuse.
type operations struct {
	schema    *ast.Schema
	documents graphql.Cache[*ast.QueryDocument]
	guard     *limits.Guard
	like      atomic.Pointer[graphql.OperationContext] // what all contexts of gqlgen have; nil before the first
}

// newContext does what exec.CreateOperationContext does.
func (o *operations) newContext(ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	if operation := o.known(ctx, params); operation != nil {
		if err := o.guard.MutateOperationContext(graphql.WithOperationContext(ctx, operation), operation); err != nil {
			return operation, gqlerror.List{err}
		}
		return operation, nil
	}
	operation, errs := exec.CreateOperationContext(ctx, params)
	if len(errs) == 0 && o.like.Load() == nil {
		o.like.Store(&graphql.OperationContext{
			DisableIntrospection: operation.DisableIntrospection, RecoverFunc: operation.RecoverFunc,
			ResolverMiddleware: operation.ResolverMiddleware, RootResolverMiddleware: operation.RootResolverMiddleware,
		})
	}
	return operation, errs
}

// known returns the context of a valid operation of a document that was validated before, else nil.
func (o *operations) known(ctx context.Context, params *graphql.RawParams) *graphql.OperationContext {
	like := o.like.Load()
	document, validated := o.documents.Get(ctx, params.Query)
	if like == nil || !validated || o.guard.MutateOperationParameters(ctx, params) != nil {
		return nil
	}
	operation := document.Operations.ForName(params.OperationName)
	if operation == nil {
		return nil
	}
	variables, errs := coercion.Variables(o.schema, operation, params.Variables)
	if len(errs) > 0 {
		return nil
	}
	return &graphql.OperationContext{
		RawQuery: params.Query, Variables: variables, OperationName: params.OperationName, Doc: document,
		Extensions: params.Extensions, Headers: params.Headers, Operation: operation,
		DisableIntrospection: like.DisableIntrospection, RecoverFunc: like.RecoverFunc,
		ResolverMiddleware: like.ResolverMiddleware, RootResolverMiddleware: like.RootResolverMiddleware,
		Stats: graphql.Stats{Read: params.ReadTime, OperationStart: graphql.GetStartTime(ctx)},
	}
}
