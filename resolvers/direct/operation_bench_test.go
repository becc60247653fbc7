package direct_test

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"

	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/internal/buffer"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/loaders"
	"github.com/talkback/talkback/resolvers"
	"github.com/talkback/talkback/resolvers/direct"
)

// BenchmarkProductPage runs the operation of a product page over a table that costs nothing: as
// gqlgen executes it, and compiled.
func BenchmarkProductPage(b *testing.B) {
	const page = `comments { edges { node { id rating language title text author { name } createdAt } cursor } pageInfo { hasNextPage endCursor } `
	const stats = `stats { total average ratings { rating count } } `
	var comments table
	for range 20 {
		comments = append(comments, commenttest.Random(commenttest.Rand(b), "pan"))
	}
	root := &resolvers.Resolver{Comments: comments, Leaders: comments, Author: comments.sender()}
	for _, row := range []struct{ name, query string }{
		{"page", `{ product(id: "pan") { ` + page + `} } }`},
		{"with-statistics", `{ product(id: "pan") { id ` + stats + page + `} } }`},
		{"with-counts", `{ product(id: "pan") { ` + page + `totalCount ` + stats + `} } }`},
	} {
		b.Run(row.name+"/gqlgen", func(b *testing.B) {
			execute(b, comments, graph.NewExecutableSchema(graph.Config{Resolvers: root}), row.query)
		})
		b.Run(row.name+"/compiled", func(b *testing.B) { execute(b, comments, direct.NewSchema(root), row.query) })
	}
}

// execute runs an operation of a schema again and again, without parsing it anew.
func execute(b *testing.B, t table, schema graphql.ExecutableSchema, query string) {
	exec := executor.New(schema)
	exec.AroundFields(direct.Fields)
	created, refused := exec.CreateOperationContext(graphql.StartOperationTrace(b.Context()), &graphql.RawParams{Query: query})
	if len(refused) > 0 {
		b.Fatal(refused)
	}
	lookahead.NewReader(schema.Schema()).Read(created)
	b.ReportAllocs()
	for b.Loop() {
		load := func() *loaders.Loaders { return loaders.New(t, t) }
		next, ctx := exec.DispatchOperation(loaders.With(context.Background(), load), created)
		response := next(ctx)
		if len(response.Errors) > 0 {
			b.Fatal(response.Errors)
		}
		buffer.Put(response.Data) // as the server does
	}
}
