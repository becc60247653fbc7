package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/loaders"
)

// maxIDs bounds the lists of ids in one field.
const maxIDs = 100

type queryResolver struct{ *Resolver }

// Product is the product of an id.
func (queryResolver) Product(_ context.Context, id string) (*comment.Product, error) {
	return productByID(id)
}

// Products are several products. An id that no product can have is null beside an error of its own.
func (queryResolver) Products(ctx context.Context, ids []string) ([]*comment.Product, error) {
	if err := checkCount(ids); err != nil {
		return nil, err
	}
	products := make([]*comment.Product, len(ids))
	for i, id := range ids {
		product, err := productByID(id)
		if err != nil {
			addElementError(ctx, i, err)
		}
		products[i] = product
	}
	return products, nil
}

// Comment is the comment of an id, nil when there is none.
func (queryResolver) Comment(ctx context.Context, id string) (*comment.Comment, error) {
	return commentByID(ctx, id)
}

// Node is the product or the comment of an id.
func (queryResolver) Node(ctx context.Context, id string) (comment.Node, error) {
	return nodeByID(ctx, id)
}

// Nodes are several products and comments. One that cannot be fetched is null beside an error of its own.
func (queryResolver) Nodes(ctx context.Context, ids []string) ([]comment.Node, error) {
	if err := checkCount(ids); err != nil {
		return nil, err
	}
	nodes := make([]comment.Node, len(ids))
	errs := make([]error, len(ids))
	var group errgroup.Group
	for i, id := range ids {
		group.Go(func() error {
			nodes[i], errs[i] = nodeByID(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // each has an error of its own
	for i, err := range errs {
		if err != nil {
			addElementError(ctx, i, err)
		}
	}
	return nodes, nil
}

func productByID(id string) (*comment.Product, error) {
	if err := comment.CheckProductID(id); err != nil {
		return nil, err
	}
	return &comment.Product{ID: id}, nil
}

func commentByID(ctx context.Context, text string) (*comment.Comment, error) {
	id, err := comment.ParseID(text)
	if err != nil {
		return nil, err
	}
	return loaders.From(ctx).Comment(ctx, id)
}

// nodeByID tells the two kinds of ids apart. What is nil must be a nil of the interface, not of a pointer in it.
func nodeByID(ctx context.Context, id string) (comment.Node, error) {
	if !comment.IsID(id) {
		product, err := productByID(id)
		if err != nil {
			return nil, err
		}
		return product, nil
	}
	c, err := commentByID(ctx, id)
	if c == nil || err != nil {
		return nil, err
	}
	return c, nil
}

func checkCount(ids []string) error {
	if len(ids) > maxIDs {
		return comment.Errorf(comment.BadInput, "%d ids are too many: ask for at most %d at once", len(ids), maxIDs)
	}
	return nil
}

// addElementError reports the error of one element of a list, whose other elements stand.
func addElementError(ctx context.Context, index int, err error) {
	graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(index)), err)
}
