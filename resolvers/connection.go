package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
)

type connectionResolver struct{ *Resolver }

// TotalCount returns how many comments the whole list has.
func (connectionResolver) TotalCount(ctx context.Context, connection *graph.CommentConnection) (*int, error) {
	if counted := connection.Counted; counted != nil {
		return unlessFailed(&counted.Total, counted.Err)
	}
	if numbered := connection.Numbered; numbered != nil && numbered.Counted {
		return &numbered.Total, nil
	}
	counts, err := countsOf(ctx, connection.Product, connection.Filter)
	if err != nil {
		return nil, err
	}
	total := counts.Total()
	return &total, nil
}

// Stats returns how many comments the whole list has, by rating.
func (connectionResolver) Stats(ctx context.Context, connection *graph.CommentConnection) (*comment.Statistics, error) {
	if counted := connection.Counted; counted != nil {
		return unlessFailed(&comment.Statistics{Counts: counted.ByRating}, counted.Err)
	}
	return countsOf(ctx, connection.Product, connection.Filter)
}

func unlessFailed[T any](value *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// slice returns the slice of the list that a page asks for. It checks the size and the number, and
// reads the cursors.
func (l list) slice(asked *lookahead.Page, after, before *string, page *int) (comment.Slice, error) {
	slice := comment.Slice{Size: asked.Size, FromEnd: asked.FromEnd}
	if asked.BothEnds {
		return slice, comment.Errorf(comment.BadInput, "give either first or last, not both: first pages forwards, last backwards")
	}
	var err error
	if slice.After, err = l.position("after", after); err != nil {
		return slice, err
	}
	if slice.Before, err = l.position("before", before); err != nil {
		return slice, err
	}
	if page == nil {
		return slice, slice.Check(l.order)
	}
	slice.Page = *page
	return slice, slice.CheckPage()
}

// connection returns a page of the list in the shape of the schema. It has no cursors and no plan that
// are not asked for.
func connection(l list, slice comment.Slice, page comment.Page, asked *lookahead.Page) *graph.CommentConnection {
	out := &graph.CommentConnection{
		Edges:    make([]*graph.CommentEdge, len(page.Comments)),
		Nodes:    make([]*comment.Comment, len(page.Comments)),
		PageInfo: &graph.PageInfo{HasNextPage: page.HasNext, HasPreviousPage: page.HasPrevious},
		Product:  l.product,
		Filter:   l.filter,
		Order:    l.order,
		Slice:    slice,
		Counted:  page.Counted,
		Numbered: page.Numbered,
	}
	edges := make([]graph.CommentEdge, len(page.Comments))
	for i := range page.Comments {
		edges[i].Node = &page.Comments[i]
		out.Nodes[i], out.Edges[i] = edges[i].Node, &edges[i]
	}
	if asked.Cursors {
		addCursors(out, l.cursors(page.Comments))
	}
	if asked.Plan {
		plan := page.Plan()
		out.Plan = &plan
	}
	return out
}

// addCursors gives a connection the cursors of its comments.
func addCursors(out *graph.CommentConnection, cursors []string) {
	for i, cursor := range cursors {
		out.Edges[i].Cursor = cursor
	}
	if last := len(out.Edges) - 1; last >= 0 {
		out.PageInfo.StartCursor = &out.Edges[0].Cursor
		out.PageInfo.EndCursor = &out.Edges[last].Cursor
	}
}

// cursors returns the cursors of comments in the list.
func (l list) cursors(comments []comment.Comment) []string {
	places := make([]comment.Place, len(comments))
	for i := range comments {
		places[i] = l.order.PlaceOf(comments[i])
	}
	return l.cursorsOf(places, l.fingerprint())
}
