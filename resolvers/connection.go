package resolvers

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
)

// list is a whole list of comments: what a cursor belongs to.
type list struct {
	product string
	filter  comment.Filter // normalized
	order   comment.Order
}

// listOf makes the list that a field's arguments name.
func listOf(product string, filter *comment.Filter, order *comment.Order) (list, error) {
	l := list{product: product, order: comment.NewestFirst}
	if order != nil {
		l.order = *order
	}
	if filter == nil {
		return l, nil
	}
	normalized, err := filter.Normalize()
	l.filter = normalized
	return l, err
}

// query asks for a slice of the list.
func (l list) query(slice comment.Slice) comment.Query {
	return comment.Query{Product: l.product, Filter: l.filter, Order: l.order, Slice: slice}
}

// slice checks what is asked of a page, and reads its cursors.
func (l list) slice(asked *lookahead.Page, after, before *string) (comment.Slice, error) {
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
	return slice, slice.Check(l.order)
}

// connection shapes a page of the list.
func connection(l list, page comment.Page) *graph.CommentConnection {
	out := &graph.CommentConnection{
		Edges:    make([]*graph.CommentEdge, len(page.Comments)),
		Nodes:    make([]*comment.Comment, len(page.Comments)),
		PageInfo: &graph.PageInfo{HasNextPage: page.HasNext, HasPreviousPage: page.HasPrevious},
		Plan:     &page.Plan,
		Product:  l.product,
		Filter:   l.filter,
		Counted:  page.Counted,
	}
	edges, cursors := make([]graph.CommentEdge, len(page.Comments)), l.cursors(page.Comments)
	for i := range page.Comments {
		node := &page.Comments[i]
		edges[i] = graph.CommentEdge{Cursor: cursors[i], Node: node}
		out.Nodes[i], out.Edges[i] = node, &edges[i]
	}
	if last := len(out.Edges) - 1; last >= 0 {
		out.PageInfo.StartCursor = &out.Edges[0].Cursor
		out.PageInfo.EndCursor = &out.Edges[last].Cursor
	}
	return out
}

// cursors are those of comments in the list.
func (l list) cursors(comments []comment.Comment) []string {
	positions := make([]comment.Position, len(comments))
	for i := range comments {
		positions[i] = comments[i].ID.Position()
	}
	return encodeCursors(positions, l.fingerprint())
}

// edgeOf is a comment with its place in a list.
func edgeOf(l list, c *comment.Comment) *graph.CommentEdge {
	return &graph.CommentEdge{Cursor: encodeCursor(c.ID.Position(), l.fingerprint()), Node: c}
}
