package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
)

type viewerResolver struct{ *Resolver }

// errNobody is the error of fields that only a customer has.
var errNobody = comment.Errorf(comment.Unauthenticated, "only a customer has comments of their own: send the customer's signed token")

// Comments returns a page of the customer's own comments.
func (r viewerResolver) Comments(
	ctx context.Context, viewer *comment.Viewer, _ *int, after *string, status *comment.Status,
) (*graph.ViewerCommentConnection, error) {
	if viewer.CustomerID == nil {
		return nil, errNobody
	}
	field := lookahead.From(ctx)
	list := list{product: comment.Author{ID: *viewer.CustomerID}.GlobalID(), order: comment.NewestFirst} // no product has such an id
	query := comment.OwnQuery{Customer: *viewer.CustomerID, Size: field.Count, Status: status, WithoutText: !field.WantsText}
	place, err := list.place("after", after)
	if err != nil {
		return nil, err
	}
	if place != nil {
		query.After = &place.Position
	}
	if err := query.Check(); err != nil {
		return nil, err
	}
	page, err := r.Resolver.Comments.OwnComments(ctx, query)
	if err != nil {
		return nil, err
	}
	products := make([]string, len(page.Comments))
	for i := range page.Comments {
		products[i] = page.Comments[i].ProductID
	}
	expectStats(ctx, products...)
	out := &graph.ViewerCommentConnection{
		Edges:    make([]*graph.CommentEdge, len(page.Comments)),
		Nodes:    graph.Pointers(page.Comments),
		PageInfo: &graph.PageInfo{HasNextPage: page.HasNext, HasPreviousPage: query.After != nil},
	}
	for i, cursor := range list.cursors(page.Comments) {
		out.Edges[i] = &graph.CommentEdge{Cursor: cursor, Node: out.Nodes[i]}
	}
	if len(out.Edges) > 0 {
		out.PageInfo.StartCursor = &out.Edges[0].Cursor
	}
	if page.End != nil {
		out.PageInfo.EndCursor = new(list.cursor(comment.At(*page.End), list.fingerprint()))
	}
	return out, nil
}

type votesResolver struct{ *Resolver }

// ViewerVote returns the vote of the customer or visitor who asks. It looks up no vote about a
// comment without votes.
func (r votesResolver) ViewerVote(ctx context.Context, votes *comment.Votes) (*comment.Vote, error) {
	voter, vote := r.viewer(ctx).VoterID(), comment.NoVote
	switch {
	case voter == "":
		return nil, nil
	case votes.VoteCounts == comment.VoteCounts{}:
		return &vote, nil
	}
	vote, err := loaders.From(ctx).Vote(ctx, comment.VoteKey{Customer: voter, Comment: votes.CommentID})
	return &vote, err
}
