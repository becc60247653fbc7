package direct

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/buffer"
)

// running is the execution of an operation.
type running struct {
	*operation
	asked     *graphql.OperationContext
	resolvers graph.ResolverRoot
	id        string
	arguments pageArguments
	languages []*comment.Language // of the statistics of the product
	answered  bool
}

// readArguments reports whether all arguments could be read.
func (r *running) readArguments() bool {
	id, ok := idOf(r.product.Field, r.asked.Variables)
	if !ok {
		return false
	}
	r.id = id
	for _, stats := range r.productStats {
		language, ok := languageOf(stats.Field, r.asked.Variables)
		if !ok {
			return false
		}
		r.languages = append(r.languages, language)
	}
	r.arguments, ok = pageArgumentsOf(r.comments.Field, r.asked.Variables)
	return ok
}

// data runs the operation, and returns the data of its answer, in a buffer for [buffer.Put].
func (r *running) data(ctx context.Context) []byte {
	ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Object: r.product.Name, Field: r.product})
	product := valueIn(r.asked.RootResolverMiddleware(ctx, r.resolveProduct))
	answer := valueOf(r.query, &queryAnswer{values{{r.product.Alias, product}}})
	return answer.write(buffer.Get(answer.room()))
}

func (r *running) resolveProduct(ctx context.Context) graphql.Marshaler {
	return graphql.ResolveField(ctx, r.asked, r.product, fieldOf("Query"),
		func(ctx context.Context) (any, error) { return r.resolvers.Query().Product(ctx, r.id) },
		nil, r.productOf, true, false)
}

// productOf resolves what is asked of a product: the page first, which begins to fetch the statistics.
func (r *running) productOf(ctx context.Context, _ ast.SelectionSet, product *comment.Product) graphql.Marshaler {
	if product == nil {
		return graphql.Null
	}
	answer := &productAnswer{product.ID, values{{r.comments.Alias, r.resolveComments(ctx, product)}}}
	for i, stats := range r.productStats {
		answer.values = append(answer.values, named{stats.Alias, resolve(ctx, r, "Product", stats.CollectedField, stats.written,
			func(ctx context.Context) (*comment.Statistics, error) {
				return r.resolvers.Product().Stats(ctx, product, r.languages[i])
			})})
	}
	return valueOf(r.inProduct, answer)
}

// resolveComments resolves the page of comments, and then the counts of its list.
func (r *running) resolveComments(ctx context.Context, product *comment.Product) Value {
	answer, inside := &connectionAnswer{}, ctx
	value := resolve(ctx, r, "Product", r.comments, r.connection, func(ctx context.Context) (*connectionAnswer, error) {
		a := &r.arguments
		page, err := r.resolvers.Product().Comments(ctx, product, a.filter, a.order, a.first, a.after, a.last, a.before, a.settledOnly, a.page)
		if page == nil || err != nil {
			return nil, err
		}
		answer.page, inside = page, ctx
		return answer, nil
	})
	if answer.page != nil {
		answer.values = r.countsOf(inside, answer.page)
	}
	return value
}

// countsOf resolves the counts of a list.
func (r *running) countsOf(ctx context.Context, page *graph.CommentConnection) (counted values) {
	of := r.resolvers.CommentConnection()
	for _, total := range r.totals {
		counted = append(counted, named{total.Alias, resolve(ctx, r, "CommentConnection", total, wholeNumber,
			func(ctx context.Context) (*int, error) { return of.TotalCount(ctx, page) })})
	}
	for _, stats := range r.listStats {
		counted = append(counted, named{stats.Alias, resolve(ctx, r, "CommentConnection", stats.CollectedField, stats.written,
			func(ctx context.Context) (*comment.Statistics, error) { return of.Stats(ctx, page) })})
	}
	return counted
}

// resolve has gqlgen resolve a field that may be null, whose value a part writes.
func resolve[T any](
	ctx context.Context, r *running, object string, field graphql.CollectedField, written part[*T], resolver func(context.Context) (*T, error),
) Value {
	return valueIn(graphql.ResolveField(ctx, r.asked, field, fieldOf(object),
		func(ctx context.Context) (any, error) {
			value, err := resolver(ctx)
			if value == nil || err != nil {
				return value, err
			}
			return valueOf(written, value), nil
		},
		nil, nothing[T], true, false))
}

// nothing marshals a value that is nil.
func nothing[T any](context.Context, ast.SelectionSet, *T) graphql.Marshaler { return graphql.Null }

// fieldOf returns what makes the context of a resolved field of an object.
func fieldOf(object string) func(context.Context, graphql.CollectedField) (*graphql.FieldContext, error) {
	return func(_ context.Context, field graphql.CollectedField) (*graphql.FieldContext, error) {
		return &graphql.FieldContext{Object: object, Field: field, IsMethod: true, IsResolver: true}, nil
	}
}
