package httpapi

import (
	"context"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/loaders"
)

// documents is how many validated documents are cached, so that a document that clients repeat is
// parsed and validated once.
const documents = 256

// newExecutor returns gqlgen's executor of the schema, with the limits, the coercion of values and
// the middleware of fields. The first extension is the outermost.
func newExecutor(o Options) *executor.Executor {
	cache := lru.New[*ast.QueryDocument](documents)
	e := executor.New(o.Schema)
	e.SetQueryCache(cache)
	e.SetErrorPresenter(o.ErrorPresenter)
	e.SetRecoverFunc(func(_ context.Context, cause any) error { return task.Panicked(cause) }) // it is an error of its field alone
	e.SetDefaultRulesFn(o.validationRules)
	e.SetDisableSuggestion(o.NoIntrospection) // otherwise gqlgen would add suggestions again
	e.Use(&named{o.Trusted, o.Automatic})
	e.Use(&limits.Guard{Limits: o.Limits, Documents: cache, NoIntrospection: o.NoIntrospection, Charge: chargeClient, Left: leftOfClient, Await: loaders.Await})
	e.Use(&coercion{documents: cache, rules: o.validationRules})
	if o.Fields != nil {
		e.AroundFields(o.Fields)
	}
	return e
}

// validationRules returns the rules that validate documents.
func (o Options) validationRules() *rules.Rules {
	if o.NoIntrospection {
		return withStrictValues(limits.RulesWithoutSuggestions())
	}
	return withStrictValues(rules.NewDefaultRules())
}
