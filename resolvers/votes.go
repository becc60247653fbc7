package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/loaders"
)

type votesResolver struct{ *Resolver }

// ViewerVote returns the vote of the customer or visitor who asks. Nobody's vote is looked for about a comment
// without votes.
func (r votesResolver) ViewerVote(ctx context.Context, votes *comment.Votes) (*comment.Vote, error) {
	voter, vote := r.viewer(ctx).VoterID(), comment.NoVote
	switch {
	case voter == "":
		return nil, nil
	case votes.VoteCounts == comment.VoteCounts{}:
		return &vote, nil
	}
	vote, err := loaders.From(ctx).Vote(ctx, comment.VoteKey{Customer: voter, Comment: votes.CommentID})
	if err != nil {
		return nil, err
	}
	return &vote, nil
}
