package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
)

type subscriptionResolver struct{ *Resolver }

// CommentEvents follows the comments of a product.
func (r subscriptionResolver) CommentEvents(ctx context.Context, productID string, filter *comment.Filter) (<-chan *comment.Event, error) {
	product, err := productByID(productID)
	if err != nil {
		return nil, err
	}
	var which comment.Filter
	if filter != nil {
		if which, err = filter.Normalize(); err != nil {
			return nil, err
		}
	}
	return r.Follower.CommentEvents(ctx, product.ID, which)
}

// Stats follows the statistics of a product.
func (r subscriptionResolver) Stats(ctx context.Context, productID string) (<-chan *comment.Statistics, error) {
	product, err := productByID(productID)
	if err != nil {
		return nil, err
	}
	return r.Follower.Stats(ctx, product.ID)
}
