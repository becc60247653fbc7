package resolvers

import (
	"cmp"
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

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
	counts, err := countsOf(ctx, connection.Product, connection.Filter)
	if err != nil {
		return comment.Numbered{}, err
	}
	total, slice := counts.Total(), connection.Slice
	return comment.Numbered{Pages: comment.Pages(total, slice.Size), Page: slice.Number(0, total, total)}, nil
}

// PageCursors returns cursors of other pages.
func (connectionResolver) PageCursors(_ context.Context, connection *graph.CommentConnection, around *int) (*graph.PageCursors, error) {
	reach := comment.DefaultAround
	if around != nil {
		reach = *around
	}
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
	return l.pageCursors(connection.Numbered.Links(reach)), nil
}

// pageCursors returns the cursors of links in the list.
func (l list) pageCursors(links comment.PageLinks) *graph.PageCursors {
	print := l.fingerprint()
	cursor := func(link *comment.PageLink) *graph.PageCursor {
		if link == nil {
			return nil
		}
		return &graph.PageCursor{Cursor: l.cursor(link.After, print), Page: link.Page, IsCurrent: link.IsCurrent}
	}
	out := &graph.PageCursors{
		First: cursor(links.First), Previous: cursor(links.Previous), Next: cursor(links.Next), Last: cursor(links.Last),
		Around: make([]*graph.PageCursor, len(links.Around)),
	}
	for i := range links.Around {
		out.Around[i] = cursor(&links.Around[i])
	}
	return out
}
