package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/loaders"
)

type votesResolver struct{ *Resolver }

// ViewerVote returns the vote of the customer who asks. Nobody's vote is looked for about a comment
// without votes.
func (r votesResolver) ViewerVote(ctx context.Context, votes *comment.Votes) (*comment.Vote, error) {
	viewer, vote := r.Author.Viewer(ctx), comment.NoVote
	switch {
	case viewer.CustomerID == nil:
		return nil, nil
	case votes.VoteCounts == comment.VoteCounts{}:
		return &vote, nil
	}
	vote, err := loaders.From(ctx).Vote(ctx, comment.VoteKey{Customer: *viewer.CustomerID, Comment: votes.CommentID})
	if err != nil {
		return nil, err
	}
	return &vote, nil
}
