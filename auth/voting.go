package auth

import (
	"context"
	"errors"

	"github.com/talkback/talkback/comment"
)

// VoteStore stores votes about comments.
type VoteStore interface {
	// Comment is as of Store.
	Comment(ctx context.Context, id comment.ID) (comment.Comment, error)
	// VotesBy returns votes of customers; those that there are not are in neither result.
	VotesBy(ctx context.Context, keys []comment.VoteKey) (map[comment.VoteKey]comment.CastVote, map[comment.VoteKey]error, error)
	// SetVote makes after the vote of a customer about a comment in place of before, whose time is zero if
	// there is none. It returns a Conflict error if before is no longer the customer's vote.
	SetVote(ctx context.Context, id comment.ID, before, after comment.CastVote) error
}

// Voter takes the votes of customers about comments, and of visitors if its Authorizer is Visitors. It is safe for use by many goroutines.
type Voter struct {
	// Store stores the votes. Required.
	Store VoteStore
	// Authorizer decides who is a customer. Required.
	Authorizer Authorizer
	// Now is the time.
	Now Clock
}

// Vote makes a vote the customer's about a comment, in place of an earlier one; NoVote takes it back. To
// vote the same again changes nothing. The comment has the votes that are counted, with this change: they
// may lack the vote before, but not this one.
func (v *Voter) Vote(ctx context.Context, id string, vote comment.Vote) (comment.Comment, []comment.Problem, error) {
	viewer, err := v.Authorizer.Identify(ctx)
	switch {
	case viewer.VoterID() != "": // a visitor may do nothing else, which the error says
	case viewer.VisitorsVote:
		return comment.Comment{}, nil, comment.Errorf(comment.Unauthenticated, "voting needs a token: send a customer's, or a visitor's that createVisitorToken makes")
	case err != nil:
		return comment.Comment{}, nil, err
	default:
		return comment.Comment{}, nil, comment.Errorf(comment.Forbidden, "only customers vote: send a signed token")
	}
	for try := 1; ; try++ {
		c, err := v.vote(ctx, viewer, id, vote)
		if comment.KindOf(err) == comment.Conflict && try < maxTries {
			continue // another vote of the customer came first
		}
		if errors.Is(err, errOwnComment) {
			return comment.Comment{}, []comment.Problem{{Code: comment.ProblemOwnComment, Path: []string{"id"}, Message: comment.MessageOf(err)}}, nil
		}
		return outcome(c, err)
	}
}

var errOwnComment = comment.Errorf(comment.BadInput, "it is your own comment: others say whether it is helpful")

// vote tries once. A Conflict error means that the customer's vote was changed since it was read.
func (v *Voter) vote(ctx context.Context, viewer comment.Viewer, id string, vote comment.Vote) (comment.Comment, error) {
	parsed, err := comment.ParseID(id)
	if err != nil {
		return comment.Comment{}, err
	}
	c, err := v.Store.Comment(ctx, parsed)
	switch {
	case err != nil:
		return c, err
	case !viewer.Sees(c):
		return c, comment.NoComment(parsed)
	case c.Author.ID == viewer.VoterID() && !c.Author.Imported:
		return c, errOwnComment
	case !viewer.SeesModeration(c):
		c.Moderation = nil // the payload shows the comment
	}
	key := comment.VoteKey{Customer: viewer.VoterID(), Comment: parsed}
	found, failed, err := v.Store.VotesBy(ctx, []comment.VoteKey{key})
	if err = errors.Join(err, failed[key]); err != nil {
		return c, err
	}
	before, voted := found[key]
	var certain comment.VoteCounts // what is stored may lack the vote before, also if it is made again
	certain.Add(vote, 1)
	if before.Vote == vote || !voted && vote == comment.NoVote {
		c.Votes = c.Votes.AtLeast(certain)
		return c, nil
	}
	after := comment.CastVote{By: key.Customer, Vote: vote, At: v.Now.millisecond()}
	if voted && !after.At.After(before.At) {
		after.At = before.At.Add(1e6) // the time tells votes apart
	}
	c.Votes.Add(before.Vote, -1)
	c.Votes.Add(vote, 1)
	c.Votes = c.Votes.AtLeast(certain)
	return c, v.Store.SetVote(ctx, parsed, before, after)
}
