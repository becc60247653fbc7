// Package resolvers answers the fields of the schema: each resolver reads its arguments, makes one
// call and shapes the answer. The calls go through small interfaces: the package does not know the
// table.
package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// Lister lists the comments of a product.
type Lister interface {
	Comments(ctx context.Context, q comment.Query) (comment.Page, error)
}

// Ranker ranks products.
type Ranker interface {
	// Leaders returns the products with most comments of the best rating, in one language or, if
	// that is empty, in all.
	Leaders(ctx context.Context, language comment.Language, first int) ([]comment.Leader, error)
}

// Author writes comments for callers that are allowed to. It returns all problems of an input at
// once.
type Author interface {
	Add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, []comment.Problem, error)
	Edit(ctx context.Context, id string, version int, change comment.Change) (comment.Comment, []comment.Problem, error)
	Delete(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error)
	// Viewer returns who the caller is, and whether it may write.
	Viewer(ctx context.Context) comment.Viewer
}

// Resolver is what all resolvers call.
type Resolver struct {
	// Comments lists the comments of products. Required.
	Comments Lister
	// Leaders ranks the products. Required.
	Leaders Ranker
	// Author writes comments. Required.
	Author Author
}
