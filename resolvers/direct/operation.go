package direct

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/usage"
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
// for nothing else that has to be resolved, run without gqlgen's execution of objects. Their fields
// are still resolved by gqlgen's function, with all middleware, errors and panics.
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
	id, idRead := idOf(operation.product.ArgumentMap(asked.Variables))
	arguments, argumentsRead := pageArgumentsOf(operation.comments.ArgumentMap(asked.Variables))
	if !idRead || !argumentsRead {
		return s.ExecutableSchema.Exec(ctx) // which reports what is wrong
	}
	run := running{operation: operation, asked: asked, resolvers: s.resolvers, id: id, arguments: arguments}
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

// operation is an operation that asks for a page of comments of one product.
type operation struct {
	product, comments graphql.CollectedField
	query             part[*queryAnswer]
	page              part[*productAnswer]
	connection        part[*graph.CommentConnection]
}

// queryAnswer and productAnswer are objects whose resolved fields are at hand.
type (
	queryAnswer   struct{ product Value }
	productAnswer struct {
		id       string
		comments Value
	}
)

var (
	queryAnswers = &object[queryAnswer]{
		types: []string{"Query"},
		fields: map[string]field[*queryAnswer]{
			"product": resolved("Product", []string{"id"}, func(q *queryAnswer) Value { return q.product }),
		},
	}

	productAnswers = &object[productAnswer]{
		types: []string{"Product", "Node"},
		fields: map[string]field[*productAnswer]{
			"id": text("ID", func(p *productAnswer) string { return p.id }),
			"comments": resolved("CommentConnection", []string{"filter", "order", "first", "after", "last", "before", "settledOnly", "page"},
				func(p *productAnswer) Value { return p.comments }),
		},
	}
)

// compile returns an operation that does not depend on variables but for its arguments, nil if it is
// not of the kind that is compiled.
func compile(asked *graphql.OperationContext) *operation {
	if asked.Operation.Operation != ast.Query || lookahead.Conditional(asked) {
		return nil
	}
	c := compiler{operation: &graphql.OperationContext{Doc: asked.Doc}, plain: true}
	out := new(operation)
	out.query = compilePart(&c, queryAnswers, asked.Operation.SelectionSet)
	out.product = c.only("product", asked.Operation.SelectionSet, queryAnswers.types)
	out.page = compilePart(&c, productAnswers, out.product.Selections)
	out.comments = c.only("comments", out.product.Selections, productAnswers.types)
	out.connection = compilePart(&c, connections, out.comments.Selections)
	if !c.plain {
		return nil
	}
	return out
}

// compiler compiles one operation.
type compiler struct {
	operation *graphql.OperationContext // without variables
	plain     bool                      // whether all of it can be compiled so far
}

// only returns the one field of a name that a selection asks for.
func (c *compiler) only(name string, set ast.SelectionSet, types []string) (only graphql.CollectedField) {
	found := 0
	for _, field := range graphql.CollectFields(c.operation, set, types) {
		if field.Name == name {
			only = field
			found++
		}
	}
	c.plain = c.plain && found == 1
	return only
}

func compilePart[T any](c *compiler, of *object[T], set ast.SelectionSet) part[*T] {
	p, plain := of.asked(c.operation, set)
	c.plain = c.plain && plain
	return p
}

// running is the execution of an operation.
type running struct {
	*operation
	asked     *graphql.OperationContext
	resolvers graph.ResolverRoot
	id        string
	arguments pageArguments
	answered  bool
}

// data runs the operation, and returns the data of its answer.
func (r *running) data(ctx context.Context) []byte {
	ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: r.product.Name, Field: r.product})
	product := r.asked.RootResolverMiddleware(ctx, r.resolveProduct)
	answer := valueOf(r.query, &queryAnswer{product: valueIn(product)})
	return answer.write(usage.From(ctx).Buffer(answer.room()))
}

func (r *running) resolveProduct(ctx context.Context) graphql.Marshaler {
	return graphql.ResolveField(ctx, r.asked, r.product, fieldOf("Query"),
		func(ctx context.Context) (any, error) { return r.resolvers.Query().Product(ctx, r.id) },
		nil, r.inProduct, true, false)
}

func (r *running) inProduct(ctx context.Context, _ ast.SelectionSet, product *comment.Product) graphql.Marshaler {
	if product == nil {
		return graphql.Null
	}
	comments := graphql.ResolveField(ctx, r.asked, r.comments, fieldOf("Product"),
		func(ctx context.Context) (any, error) { return r.connectionOf(ctx, product) },
		nil, withoutComments, true, false)
	return valueOf(r.page, &productAnswer{id: product.ID, comments: valueIn(comments)})
}

// connectionOf returns the page of comments as a Value.
func (r *running) connectionOf(ctx context.Context, product *comment.Product) (any, error) {
	a := &r.arguments
	page, err := r.resolvers.Product().Comments(ctx, product, a.filter, a.order, a.first, a.after, a.last, a.before, a.settledOnly, a.page)
	if page == nil || err != nil {
		return page, err
	}
	return valueOf(r.connection, page), nil
}

// withoutComments marshals the page of comments that a resolver did not return.
func withoutComments(context.Context, ast.SelectionSet, *graph.CommentConnection) graphql.Marshaler {
	return graphql.Null
}

// fieldOf returns what makes the context of a resolved field of an object.
func fieldOf(object string) func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error) {
	return func(_ context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
		return &graphql.FieldContext{Object: object, Field: field, IsMethod: true, IsResolver: true}, nil
	}
}
