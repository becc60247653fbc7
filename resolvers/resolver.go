// Package resolvers answers the fields of the schema: each resolver reads its arguments, makes one
// call and shapes the answer. The calls go through small interfaces: the package does not know the
// table. Lists whose values have all been read are written at once, without a resolver for each
// field (direct.go).
package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// Lister lists the comments of a product and those of a customer, and ranks products.
type Lister interface {
	Comments(ctx context.Context, q comment.Query) (comment.Page, error)
	OwnComments(ctx context.Context, q comment.OwnQuery) (comment.OwnPage, error)
	// Leaders returns the products with most comments of the best rating, in one language or, if
	// that is empty, in all.
	Leaders(ctx context.Context, language comment.Language, first int) ([]comment.Leader, error)
}

// Service changes comments for callers that are allowed to, and returns all problems of an input at
// once.
type Service interface {
	// Viewer returns who the caller is, and whether it may write.
	Viewer(ctx context.Context) comment.Viewer
	Author
	Replier
	Reporter
	Voter
	Moderator
	Records
	Eraser
}

// Author writes comments.
type Author interface {
	Add(ctx context.Context, draft comment.Draft, key *string) (comment.Comment, []comment.Problem, error)
	Edit(ctx context.Context, id string, version int, change comment.Change) (comment.Comment, []comment.Problem, error)
	Delete(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error)
	Withdraw(ctx context.Context, id string, version int) (comment.Comment, []comment.Problem, error)
}

// Replier writes the shop's replies.
type Replier interface {
	Reply(ctx context.Context, input comment.ReplyDraft) (comment.Comment, []comment.Problem, error)
	DeleteReply(ctx context.Context, id string, version *int) (comment.Comment, []comment.Problem, error)
}

// Reporter reports comments to moderators, for customers.
type Reporter interface {
	Report(ctx context.Context, draft comment.ReportDraft) ([]comment.Problem, error)
}

// Voter records votes about comments.
type Voter interface {
	VisitorToken(ctx context.Context) (comment.VisitorToken, error)
	Vote(ctx context.Context, id string, vote comment.Vote) (comment.Comment, []comment.Problem, error)
}

// Moderator shows moderators what waits, and decides for them. All methods return an error for
// others.
type Moderator interface {
	// Moderate only returns that error.
	Moderate(ctx context.Context) error
	Decide(ctx context.Context, v comment.Verdict) (comment.Comment, []comment.Problem, error)
	Queue(ctx context.Context, q comment.QueueQuery) (comment.QueuePage, error)
	Pending(ctx context.Context) (int, error)
}

// Records shows moderators the history of a comment and of its author.
type Records interface {
	Audit(ctx context.Context, id comment.ID) ([]comment.Decision, error)
	Reports(ctx context.Context, id comment.ID) ([]comment.Report, error)
	CommentsBy(ctx context.Context, customer string) (comment.CustomerComments, error)
}

// Eraser erases customers for moderators.
type Eraser interface {
	Erase(ctx context.Context, customer string) (comment.Erasure, []comment.Problem, error)
	// Erasure returns the latest erasure of a customer, nil if there was none.
	Erasure(ctx context.Context, customer string) (*comment.Erasure, error)
}

// Follower streams changes from now on. Each channel delivers until the context of its request
// ends, and is never closed.
type Follower interface {
	CommentEvents(ctx context.Context, product string, filter comment.Filter) (<-chan *comment.Event, error)
	Stats(ctx context.Context, product string) (<-chan *comment.Statistics, error)
}

// Resolver holds the services that the resolvers call. All are required, Follower only on a server
// that has subscriptions.
type Resolver struct {
	Comments Lister
	Service  Service
	Follower Follower
	// MediaBase is the prefix of the addresses of pictures and videos; empty to answer with none.
	MediaBase comment.MediaBase
}
