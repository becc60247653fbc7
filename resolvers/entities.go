package resolvers

import (
	"context"
	"strconv"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/plugin/federation/fedruntime"

	"github.com/talkback/talkback/comment"
)

// Subgraph returns a [graphql.FieldMiddleware] that answers the fields of a subgraph of Apollo
// Federation, whose schema is sdl, and leaves all others to [Resolver.Fields]. It replaces gqlgen's
// own loop over representations, which fetches statistics late and does not say which
// representation an error is about.
func (r *Resolver) Subgraph(sdl string) graphql.FieldMiddleware {
	others := r.Fields()
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		at := graphql.GetFieldContext(ctx)
		switch {
		case at.Object != "Query":
		case at.Field.Name == "_service":
			return fedruntime.Service{SDL: sdl}, nil
		case at.Field.Name == "_entities":
			// A representation that cannot be fetched gives null and an error of its own.
			representations := at.Args["representations"].([]map[string]any)
			if err := checkCount(len(representations), "representations"); err != nil {
				return nil, err
			}
			nodes := each(ctx, representations, r.entity)
			expectStatsOfNodes(ctx, nodes...)
			found := make([]fedruntime.Entity, len(nodes))
			for i, node := range nodes {
				found[i], _ = node.(fedruntime.Entity)
			}
			return found, nil
		}
		return others(ctx, next)
	}
}

// entity returns the product or the comment of a representation, nil if there is no such comment.
func (r *Resolver) entity(ctx context.Context, representation map[string]any) (comment.Node, error) {
	name, _ := representation["__typename"].(string)
	switch name {
	case "Product", "Comment":
	case "Author":
		return nil, comment.Errorf(comment.BadInput, "an author is not found by its id, for each comment has a name of its own: ask for the author of a comment")
	default:
		return nil, comment.Errorf(comment.BadInput, `a representation needs the __typename "Product" or "Comment"`)
	}
	id, ok := representation["id"].(string)
	if number, whole := representation["id"].(int64); whole { // in the text; those of variables are strings by now
		id = strconv.FormatInt(number, 10)
	} else if !ok {
		return nil, comment.Errorf(comment.BadInput, "a representation of a %s needs its id, a string", name)
	}
	if name == "Product" {
		return node(productByID(id))
	}
	return node(r.commentByID(ctx, id))
}
