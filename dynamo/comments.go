package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/usage"
)

// Comments returns one page of the comments of a product, and counts the whole list if the query
// asks for that. The filter must be normalized. The page is full while comments remain; HasNext and
// HasPrevious are exact. Reads are eventually consistent, as all reads of an index are. When only
// the count or the numbers of pages fail, the page is returned with the error in Counted or
// Numbered.
//
// The page may be shared with other callers of the same query, so do not change it.
func (s *Store) Comments(ctx context.Context, q comment.Query) (comment.Page, error) {
	key := keyOf(q)
	page, cached := s.pages.find(key, s.changes.last(q.Product))
	s.looked(cached)
	if !cached {
		var err error
		flight := flightKey{key, s.changes.number(q.Product)}
		page, err = s.flights.join(ctx, flight, func(ctx context.Context) (comment.Page, error) { return s.read(ctx, q, key) })
		if err != nil {
			return comment.Page{}, err
		}
	}
	return s.expand(ctx, page)
}

// read reads a page by what is known of its product, and puts it into the page cache.
func (s *Store) read(ctx context.Context, q comment.Query, key queryKey) (comment.Page, error) {
	began := s.now() // a caller who joins this read gets a page as old as the read
	page, err := s.answer(ctx, q, key, s.known(q))
	if err == nil {
		s.pages.keep(key, page, began)
	}
	return page, err
}

// answer reads a page, and looks up and counts beside it what the query asks for.
func (s *Store) answer(ctx context.Context, q comment.Query, key queryKey, known planner.Known) (comment.Page, error) {
	began := s.now()
	a := s.newAnswering(q, key, known)
	if err := a.place(ctx); err != nil {
		return comment.Page{}, err
	}
	if err := a.read(ctx); err != nil {
		return comment.Page{}, err
	}
	s.pageRead(known, a.list.execution)
	page := a.page()
	page.Plan.Duration = s.now().Sub(began)
	return page, nil
}

// heldAtOnce is from how many bytes on expanded texts are added to the account of their operation,
// which all goroutines share, before the next is expanded.
const heldAtOnce = 16 << 10

// expand is a page with its texts, which the caller's operation holds from now on. The shared page
// stays compressed. Comments whose texts are damaged are left out and reported.
func (s *Store) expand(ctx context.Context, page comment.Page) (comment.Page, error) {
	if page.CompressedTexts == nil {
		return page, nil
	}
	due := 0 // bytes that the account does not hold yet
	comments, texts, account := make([]comment.Comment, 0, len(page.Comments)), layout.NewTexts(len(page.Comments)), usage.From(ctx)
	for i := range page.Comments {
		comments = append(comments, page.Comments[i])
		c := &comments[len(comments)-1]
		if short := page.CompressedTexts[i]; short != nil {
			text, err := texts.Expand(c.ID, short)
			if err != nil {
				s.malformed.Report(layout.NewImproper(layout.CommentKey(c.ID), err.Error()))
				comments = comments[:len(comments)-1]
				continue
			}
			c.Text = text
		}
		if due += len(c.Text); due >= heldAtOnce {
			if err := account.Hold(due); err != nil {
				return comment.Page{}, err
			}
			due = 0
		}
	}
	if err := account.Hold(due); err != nil {
		return comment.Page{}, err
	}
	page.Comments, page.CompressedTexts = comments, nil
	return page, nil
}

// Warm reads what the Store would know of a product after some pages: its statistics and how large
// its comments are. Call UseStatistics before it.
func (s *Store) Warm(ctx context.Context, product string) error {
	if err := s.memory.fetch(ctx, product); err != nil {
		return call.Wrap(err, "statistics of product %q", product)
	}
	_, err := s.Comments(ctx, comment.Query{
		Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: comment.DefaultPageSize},
	})
	return err
}
