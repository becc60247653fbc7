// Package direct writes the parts of an answer that need no resolver. gqlgen resolves each field of
// each list element separately and starts a goroutine for each element. Fields that read need that;
// for a page whose values have all been read, it is most of the work.
//
// What this package writes equals what gqlgen would write, byte for byte. It leaves all other
// fields to gqlgen.
package direct

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// Fields is a [graphql.FieldMiddleware]. It replaces the value of a field by a [Value] if
// everything asked of it has been read, and leaves it unchanged otherwise.
func Fields(ctx context.Context, next graphql.Resolver) (any, error) {
	result, err := next(ctx)
	if err != nil {
		return result, err
	}
	switch v := result.(type) {
	case *graph.CommentConnection:
		return oneOf(ctx, connections, v), nil
	case []*graph.CommentEdge:
		return allOf(ctx, edges, v), nil
	case []*comment.Comment:
		return allOf(ctx, comments, v), nil
	case []*comment.Product:
		return productList(ctx, v), nil
	case *graph.CommentEdge:
		return oneOf(ctx, edges, v), nil
	case *comment.Comment:
		return oneOf(ctx, comments, v), nil
	case *comment.Statistics:
		return oneOf(ctx, counts, v), nil
	case *graph.PageInfo:
		return oneOf(ctx, pageInfos, v), nil
	case *comment.Viewer:
		return oneOf(ctx, viewers, v), nil
	}
	return result, nil
}
