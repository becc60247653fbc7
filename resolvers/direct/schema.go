package direct

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/graph"
)

// compiled is how many compiled operations are kept: as many as parsed documents.
const compiled = 256

// schema runs operations that it can compile, and leaves all others to gqlgen.
type schema struct {
	graphql.ExecutableSchema
	resolvers graph.ResolverRoot
	// operations are compiled, or nil for those of gqlgen.
	operations *lru.Cache[*ast.OperationDefinition, *operation]
}

// NewSchema returns the schema with its resolvers. Operations that ask for one page of comments, and
// for nothing else that has to be resolved but statistics, run without gqlgen's execution of objects.
// Their fields are still resolved by gqlgen's function, with all middleware, errors and panics.
func NewSchema(resolvers graph.ResolverRoot) graphql.ExecutableSchema {
	operations, err := lru.New[*ast.OperationDefinition, *operation](compiled)
	if err != nil {
		panic(err) // the size is a constant
	}
	return schema{graph.NewExecutableSchema(graph.Config{Resolvers: resolvers}), resolvers, operations}
}

// Exec implements [graphql.ExecutableSchema].
func (s schema) Exec(ctx context.Context) graphql.ResponseHandler {
	asked := graphql.GetOperationContext(ctx)
	operation := s.operation(asked)
	if operation == nil {
		return s.ExecutableSchema.Exec(ctx)
	}
	run := running{operation: operation, asked: asked, resolvers: s.resolvers}
	if !run.readArguments() {
		return s.ExecutableSchema.Exec(ctx) // which reports what is wrong
	}
	return func(ctx context.Context) *graphql.Response {
		if run.answered {
			return nil
		}
		run.answered = true
		return &graphql.Response{Data: run.data(ctx)}
	}
}

// operation returns the compiled operation, nil if gqlgen has to run it.
func (s schema) operation(asked *graphql.OperationContext) *operation {
	known, found := s.operations.Get(asked.Operation)
	if !found {
		known = compile(asked)
		s.operations.Add(asked.Operation, known)
	}
	return known
}
