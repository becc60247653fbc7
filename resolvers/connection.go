package resolvers

import (
	"cmp"
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
	"github.com/talkback/talkback/loaders"
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
	counts, err := loaders.From(ctx).Statistics(ctx, connection.Product, connection.Filter)
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
	return loaders.From(ctx).Statistics(ctx, connection.Product, connection.Filter)
}

func unlessFailed[T any](value *T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return value, nil
}

// connection returns a page of the list in the shape of the schema. It has cursors and the plan
// only if they are asked for.
func connection(l list, slice comment.Slice, page comment.Page, asked *lookahead.Page) *graph.CommentConnection {
	out := &graph.CommentConnection{
		Edges:    make([]*graph.CommentEdge, len(page.Comments)),
		Nodes:    graph.Pointers(page.Comments),
		PageInfo: &graph.PageInfo{HasNextPage: page.HasNext, HasPreviousPage: page.HasPrevious},
		Product:  l.product,
		Filter:   l.filter,
		Order:    l.order,
		Slice:    slice,
		Counted:  page.Counted,
		Numbered: page.Numbered,
	}
	for i, node := range out.Nodes {
		out.Edges[i] = &graph.CommentEdge{Node: node}
	}
	if asked.Cursors {
		for i, cursor := range l.cursors(page.Comments) {
			out.Edges[i].Cursor = cursor
		}
		if last := len(out.Edges) - 1; last >= 0 {
			out.PageInfo.StartCursor, out.PageInfo.EndCursor = &out.Edges[0].Cursor, &out.Edges[last].Cursor
		}
	}
	if asked.Plan {
		out.Plan = new(page.Plan())
	}
	return out
}

// cursors returns the cursors of comments in the list.
func (l list) cursors(comments []comment.Comment) []string {
	cursors, print := make([]string, len(comments)), l.fingerprint()
	for i := range comments {
		cursors[i] = l.cursor(new(l.order.PlaceOf(comments[i])), print)
	}
	return cursors
}

// PageCount returns how many pages the whole list has.
func (connectionResolver) PageCount(ctx context.Context, connection *graph.CommentConnection) (*int, error) {
	if connection.Slice.Size == 0 {
		return nil, nil
	}
	numbered, err := numbersOf(ctx, connection)
	return unlessFailed(&numbered.Pages, err)
}

// PageNumber returns the number of the page.
func (connectionResolver) PageNumber(ctx context.Context, connection *graph.CommentConnection) (*int, error) {
	if connection.Slice.Size == 0 {
		return nil, nil
	}
	if page := connection.Slice.KnownNumber(); connection.Numbered == nil && page > 0 {
		return &page, nil
	}
	numbered, err := numbersOf(ctx, connection)
	return unlessFailed(&numbered.Page, cmp.Or(err, numbered.Unknown))
}

// numbersOf returns the page numbers of a connection. If they were not looked up, they follow from
// the statistics, as the number of comments does.
func numbersOf(ctx context.Context, connection *graph.CommentConnection) (comment.Numbered, error) {
	if numbered := connection.Numbered; numbered != nil {
		return *numbered, numbered.Err
	}
	counts, err := loaders.From(ctx).Statistics(ctx, connection.Product, connection.Filter)
	if err != nil {
		return comment.Numbered{}, err
	}
	total, slice := counts.Total(), connection.Slice
	return comment.Numbered{Pages: comment.Pages(total, slice.Size), Page: slice.Number(0, total, total)}, nil
}

// PageCursors returns cursors of other pages.
func (connectionResolver) PageCursors(_ context.Context, connection *graph.CommentConnection, around *int) (*graph.PageCursors, error) {
	reach := *cmp.Or(around, new(comment.DefaultAround))
	if reach < 0 || reach > comment.MaxAround {
		return nil, comment.Errorf(comment.BadInput, "around is 0 to %d, not %d: it is how many pages to list on either side", comment.MaxAround, reach)
	}
	if connection.Slice.Size == 0 {
		return nil, nil
	}
	if err := cmp.Or(connection.Numbered.Err, connection.Numbered.Unknown, connection.Numbered.Unlinked); err != nil {
		return nil, err
	}
	l := list{product: connection.Product, filter: connection.Filter, order: connection.Order}
	print := l.fingerprint()
	cursor := func(link *comment.PageLink) *graph.PageCursor {
		if link == nil {
			return nil
		}
		return &graph.PageCursor{Cursor: l.cursor(link.After, print), Page: link.Page, IsCurrent: link.IsCurrent}
	}
	links := connection.Numbered.Links(reach)
	out := &graph.PageCursors{
		First: cursor(links.First), Previous: cursor(links.Previous), Next: cursor(links.Next), Last: cursor(links.Last),
		Around: make([]*graph.PageCursor, len(links.Around)),
	}
	for i := range links.Around {
		out.Around[i] = cursor(&links.Around[i])
	}
	return out, nil
}
