// Package direct writes the parts of an answer that need no resolver. gqlgen resolves each field of
// each list element separately and starts a goroutine for each element. Fields that read from the
// table need that. For a page whose values have all been read, it is most of the work.
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

// Fields returns a [graphql.FieldMiddleware]. It replaces the value of a field by a [Value] if all
// selected fields below it have been read, and leaves it unchanged otherwise. base is the prefix of
// the addresses of pictures and videos, empty to answer with none.
func Fields(base comment.MediaBase) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		result, err := next(ctx)
		if err != nil {
			return result, err
		}
		switch v := result.(type) {
		case *graph.CommentConnection:
			result = oneOf(ctx, base, connections, v)
		case []*graph.CommentEdge:
			result = allOf(ctx, base, edges, v)
		case []*comment.Comment:
			result = allOf(ctx, base, comments, v)
		case []*comment.Product:
			result = productList(ctx, base, v)
		case *graph.CommentEdge:
			result = oneOf(ctx, base, edges, v)
		case *comment.Comment:
			result = oneOf(ctx, base, comments, v)
		case *comment.Statistics:
			result = oneOf(ctx, base, counts, v)
		case *graph.PageInfo:
			result = oneOf(ctx, base, pageInfos, v)
		case *comment.Viewer:
			result = oneOf(ctx, base, viewers, v)
		}
		return result, nil
	}
}
