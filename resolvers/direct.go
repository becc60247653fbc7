package resolvers

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

// Fields returns a [graphql.FieldMiddleware] that writes lists which need no resolver. gqlgen
// resolves each field of each list element separately and starts a goroutine for each element.
// Fields that read from the table need that. For a page whose values have all been read, it is most
// of the work.
//
// The middleware replaces a list of comments or products by a [DirectList] if all selected fields
// below it have been read, and leaves all others to gqlgen. The answer is the same, byte for byte.
func (r *Resolver) Fields() graphql.FieldMiddleware {
	types := typesOf(r.MediaBase)
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		result, err := next(ctx)
		if err != nil {
			return result, err
		}
		switch list := result.(type) {
		case []*graph.CommentEdge:
			if parts, plain := types.here(ctx); plain {
				return directList(list, parts), nil
			}
		case []*comment.Comment:
			if parts, plain := types.here(ctx); plain {
				return directList(list, parts), nil
			}
		case []*comment.Product:
			if parts, plain := types.here(ctx); plain {
				if products, whole := withStats(ctx, list); whole {
					return directList(graph.Pointers(products), parts), nil
				}
			}
		}
		return result, nil
	}
}

// withStats returns products with their statistics, if an operation asks for these. It fetches all
// of them together. whole is false if a product is missing or its statistics failed, which gqlgen
// reports.
func withStats(ctx context.Context, list []*comment.Product) (products []productStats, whole bool) {
	if slices.Contains(list, nil) {
		return nil, false
	}
	products, ids := make([]productStats, len(list)), make([]string, len(list))
	for i, product := range list {
		products[i].id, ids[i] = product.ID, product.ID
	}
	if !lookahead.From(ctx).WantsStatistics {
		return products, true
	}
	stats, whole := loaders.From(ctx).StatsOfAll(ctx, ids)
	for i := range stats {
		// A product with very many languages has one row for the rarer ones. The resolver looks up their
		// counts.
		if _, shared := stats[i][comment.OtherLanguages]; shared {
			return nil, false
		}
		products[i].stats, products[i].asOf = stats[i], loaders.From(ctx).StatsAsOf()
	}
	return products, whole
}
