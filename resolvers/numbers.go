package resolvers

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// PageCount returns how many pages the whole list has.
func (connectionResolver) PageCount(_ context.Context, connection *graph.CommentConnection) (*int, error) {
	return unlessNone(connection, connection.Numbered.Pages)
}

// PageNumber returns the number of the page.
func (connectionResolver) PageNumber(_ context.Context, connection *graph.CommentConnection) (*int, error) {
	return unlessNone(connection, connection.Numbered.Page)
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
	if connection.Size == 0 {
		return nil, nil
	}
	if err := connection.Numbered.Err; err != nil {
		return nil, err
	}
	l := list{product: connection.Product, filter: connection.Filter, order: connection.Order}
	return l.pageCursors(connection.Numbered.Links(reach)), nil
}

// unlessNone returns a number of a page or of pages, null if pages have no comments.
func unlessNone(connection *graph.CommentConnection, number int) (*int, error) {
	if connection.Size == 0 {
		return nil, nil
	}
	return unlessFailed(&number, connection.Numbered.Err)
}

// pageCursors returns the cursors of links in the list.
func (l list) pageCursors(links comment.PageLinks) *graph.PageCursors {
	print := l.fingerprint()
	cursor := func(link *comment.PageLink) *graph.PageCursor {
		if link == nil {
			return nil
		}
		return &graph.PageCursor{Cursor: encodeStart(link.After, print), Page: link.Page, IsCurrent: link.IsCurrent}
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
