package httpapi

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/httpapi/coercion"
	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/telemetry/spans"
)

// documents is how many parsed documents are cached: a client that sends the same ones has them
// parsed once.
const documents = 256

// operations makes the contexts of operations and runs them. gqlgen's executor makes the context if
// the document is new, or if there is something to refuse. It would check variables once more, by
// reflection, after this server has coerced them. And it would make functions and contexts for each
// step of an operation, though the steps are always the same.
type operations struct {
	schema        graphql.ExecutableSchema
	executor      *executor.Executor
	documents     graphql.Cache[*ast.QueryDocument]
	guard         *limits.Guard
	resolve       graphql.FieldMiddleware // resolves a field within the limits
	present       graphql.ErrorPresenterFunc
	introspection bool
}

func newOperations(o Options) *operations {
	cache := lru.New[*ast.QueryDocument](documents)
	guard := &limits.Guard{Limits: o.Limits, Prices: o.Prices, Documents: cache, NoIntrospection: o.NoIntrospection, Quota: charging{}}
	made := &operations{
		schema: o.Schema, executor: executor.New(o.Schema), documents: cache, guard: guard,
		resolve: within(guard, o.Fields), present: o.ErrorPresenter, introspection: !o.NoIntrospection,
	}
	made.executor.SetQueryCache(cache)
	made.executor.Use(guard)
	made.executor.SetDefaultRulesFn(o.validationRules)
	made.executor.Use(&coercion.Extension{Documents: cache, Rules: o.validationRules})
	made.executor.SetDisableSuggestion(o.NoIntrospection) // or gqlgen would put suggestions back
	return made
}

// validationRules are the rules that documents are validated by.
func (o Options) validationRules() *rules.Rules {
	if o.NoIntrospection {
		return coercion.ValidationRules(limits.RulesWithoutSuggestions())
	}
	return coercion.ValidationRules(rules.NewDefaultRules())
}

// within resolves fields by a middleware, if there is one, and counts what comes of it.
func within(guard *limits.Guard, fields graphql.FieldMiddleware) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (value any, err error) {
		if fields != nil {
			value, err = fields(ctx, next)
		} else {
			value, err = next(ctx)
		}
		if err != nil {
			return value, err
		}
		return guard.Field(ctx, value)
	}
}

// newContext does what gqlgen's executor does to make the context of an operation.
func (o *operations) newContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	operation := o.known(ctx, params)
	if operation == nil {
		operation, errs := o.executor.CreateOperationContext(graphql.StartOperationTrace(ctx), params)
		o.complete(operation)
		return operation, errs
	}
	if err := o.guard.MutateOperationContext(ctx, operation); err != nil {
		return operation, gqlerror.List{err}
	}
	return operation, nil
}

// known returns the context of a valid operation of a document that was validated before, else nil.
func (o *operations) known(ctx context.Context, params *graphql.RawParams) *graphql.OperationContext {
	document, validated := o.documents.Get(ctx, params.Query)
	if !validated || o.guard.Limits.CheckVariables(params.Variables) != nil {
		return nil
	}
	definition := document.Operations.ForName(params.OperationName)
	if definition == nil {
		return nil
	}
	variables, errs := coercion.Variables(o.schema.Schema(), definition, params.Variables)
	if len(errs) > 0 {
		return nil
	}
	operation := &graphql.OperationContext{
		RawQuery: params.Query, Variables: variables, OperationName: params.OperationName, Doc: document,
		Extensions: params.Extensions, Headers: params.Headers, Operation: definition,
	}
	o.complete(operation)
	return operation
}

// complete sets what all contexts have in common.
func (o *operations) complete(operation *graphql.OperationContext) {
	operation.DisableIntrospection, operation.RecoverFunc = !o.introspection, recoverPanic
	operation.ResolverMiddleware, operation.RootResolverMiddleware = o.resolve, resolveRoot
}

func resolveRoot(ctx context.Context, next graphql.RootResolver) graphql.Marshaler { return next(ctx) }

// answered is the answer to an operation, and what it cost.
type answered struct {
	*graphql.Response
	cost limits.Cost // zero if nothing had to be read
}

// run runs an operation unless there are errors. If the request is observed, it notes what became
// of the operation.
func (o *operations) run(ctx context.Context, operation *graphql.OperationContext, errs gqlerror.List) answered {
	e := requestOf(ctx).exchange
	ctx = graphql.WithOperationContext(ctx, operation)
	if e == nil {
		return o.answer(ctx, operation, errs)
	}
	began := time.Now()
	e.recognize(operation)
	ctx, span := spans.Operation(ctx, e.Operation, e.Name)
	out := o.answer(ctx, operation, errs)
	e.note(ctx, out.Response, out.cost)
	e.Ran = time.Since(began)
	e.end(span)
	return out
}

// answer runs an operation unless there are errors or its time is over, and bounds the answer.
func (o *operations) answer(ctx context.Context, operation *graphql.OperationContext, errs gqlerror.List) answered {
	ctx = graphql.WithResponseContext(ctx, o.present, recoverPanic)
	if len(errs) == 0 && ctx.Err() != nil {
		errs = gqlerror.List{gqlerror.Wrap(context.Cause(ctx))}
	}
	var response *graphql.Response
	if len(errs) > 0 {
		response = refusing(ctx, operation, errs)
	} else {
		response = o.execute(ctx)
	}
	return answered{response, o.guard.Answer(ctx, response)}
}

// refusing answers with errors alone.
func refusing(ctx context.Context, operation *graphql.OperationContext, errs gqlerror.List) *graphql.Response {
	for _, err := range errs {
		graphql.AddError(ctx, err)
	}
	return &graphql.Response{Errors: append(graphql.GetErrors(ctx), coercion.Others(operation)...)}
}

// execute runs an operation.
func (o *operations) execute(ctx context.Context) *graphql.Response {
	respond := o.schema.Exec(ctx)
	if errs := graphql.GetErrors(ctx); errs != nil {
		return &graphql.Response{Errors: errs}
	}
	response := respond(ctx)
	response.Errors = append(response.Errors, graphql.GetErrors(ctx)...)
	return response
}
