package resolvers

import "github.com/talkback/talkback/graph"

var _ graph.ResolverRoot = (*Resolver)(nil)

// Query returns the resolver of the type Query.
func (r *Resolver) Query() graph.QueryResolver { return queryResolver{r} }

// Product returns the resolver of the type Product.
func (r *Resolver) Product() graph.ProductResolver { return productResolver{r} }

// CommentConnection returns the resolver of the type CommentConnection.
func (r *Resolver) CommentConnection() graph.CommentConnectionResolver { return connectionResolver{r} }

// Comment returns the resolver of the type Comment.
func (r *Resolver) Comment() graph.CommentResolver {
	return commentResolver{mediaResolver{r.MediaBase}}
}

// HeldEdit returns the resolver of the type HeldEdit.
func (r *Resolver) HeldEdit() graph.HeldEditResolver {
	return heldEditResolver{mediaResolver{r.MediaBase}}
}

// Media returns the resolver of the type Media.
func (r *Resolver) Media() graph.MediaResolver { return mediaResolver{r.MediaBase} }

// Viewer returns the resolver of the type Viewer.
func (r *Resolver) Viewer() graph.ViewerResolver { return viewerResolver{r} }

// Moderation returns the resolver of the type Moderation.
func (r *Resolver) Moderation() graph.ModerationResolver { return moderationResolver{r} }

// Votes returns the resolver of the type Votes.
func (r *Resolver) Votes() graph.VotesResolver { return votesResolver{r} }

// Entity returns no resolver: Subgraph answers the field that would call it.
func (r *Resolver) Entity() graph.EntityResolver { return nil }

// Mutation returns the resolver of the type Mutation.
func (r *Resolver) Mutation() graph.MutationResolver { return mutationResolver{r} }

// Subscription returns the resolver of the type Subscription.
func (r *Resolver) Subscription() graph.SubscriptionResolver { return subscriptionResolver{r} }
