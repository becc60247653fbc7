// Package resolvers answers the fields of the schema: each reads its arguments, makes one call and shapes the answer.
// What it calls is behind small interfaces; it does not know the table.
package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// Lister lists the comments of a product.
type Lister interface {
	Comments(ctx context.Context, q comment.Query) (comment.Page, error)
}

// Resolver is the root of all resolvers.
type Resolver struct {
	// Comments lists the comments of products. Required.
	Comments Lister
}

var _ graph.ResolverRoot = (*Resolver)(nil)

// Query resolves the fields of the type Query.
func (r *Resolver) Query() graph.QueryResolver { return queryResolver{r} }

// Product resolves the fields of the type Product.
func (r *Resolver) Product() graph.ProductResolver { return productResolver{r} }
