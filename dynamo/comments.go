package dynamo

import (
	"context"
	"slices"
	"time"

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
	page, cached := s.cache.find(key, s.changes.last(q.Product))
	s.observeCache(cached)
	if !cached {
		var err error
		flight := flightKey{key, s.changes.number(q.Product)}
		page, err = s.flights.join(ctx, flight, func(ctx context.Context) (sharedPage, error) {
			return s.answer(ctx, q, key, s.knowledge(q))
		})
		if err != nil {
			return comment.Page{}, err
		}
	}
	return s.expand(ctx, page)
}

// answer reads a page and caches it. It looks up and counts beside it what the query asks for.
func (s *Store) answer(ctx context.Context, q comment.Query, key queryKey, known planner.Knowledge) (sharedPage, error) {
	began := s.now()
	a := s.newAnswering(q, key, known)
	err := a.place(ctx)
	switch {
	case err != nil:
	case a.numbers == nil && q.Count == comment.CountNothing:
		err = a.list.read(ctx)
	default:
		steps := [...]func(context.Context) error{a.list.read, a.aside}
		err = call.Parallel(ctx, len(steps), func(ctx context.Context, i int) error { return steps[i](ctx) })
	}
	if err != nil {
		return sharedPage{}, err
	}
	s.observePage(known, a.list.execution)
	page := a.page()
	page.Explain = a.explain(s.now().Sub(began))
	s.cache.keep(key, page, began)
	return page, nil
}

// heldAtOnce is from how many bytes on expanded texts are added to the account of their operation,
// which all goroutines share, before the next is expanded.
const heldAtOnce = 16 << 10

// expand is a page with its texts, which the caller's operation holds from now on. The shared page
// stays compressed. Comments whose texts are damaged are left out and reported.
func (s *Store) expand(ctx context.Context, shared sharedPage) (comment.Page, error) {
	page, account := shared.Page, usage.From(ctx)
	page.Comments = slices.Grow(page.Comments, len(shared.comments))
	expanded, due := false, 0 // bytes that the account does not hold yet
	for _, compressed := range shared.comments {
		c, err := compressed.Decompress()
		if err != nil {
			s.malformed.Report(layout.NewImproper(layout.CommentKey(c.ID), err.Error()))
			continue
		}
		expanded = expanded || compressed.CompressedText != nil
		page.Comments = append(page.Comments, c)
		if due += len(c.Text); expanded && due >= heldAtOnce {
			if err := account.Hold(due); err != nil {
				return comment.Page{}, err
			}
			due = 0
		}
	}
	if !expanded { // what it has was held when it was read
		return page, nil
	}
	if err := account.Hold(due); err != nil {
		return comment.Page{}, err
	}
	return page, nil
}

// Warm reads what the Store would know of a product after some pages: its statistics and how large
// its comments are. It needs a Watermark.
func (s *Store) Warm(ctx context.Context, product string) error {
	if err := s.memory.fetch(ctx, product); err != nil {
		return call.Wrap(err, "statistics of product %q", product)
	}
	_, err := s.Comments(ctx, comment.Query{
		Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: comment.DefaultPageSize},
	})
	return err
}

// observeCache reports a lookup in the page cache to the observer, if there are both.
func (s *Store) observeCache(hit bool) {
	if s.options.Observer != nil && s.cache != nil {
		s.options.Observer.CacheLookup("pages", hit)
	}
}

// observePage reports a page that was read to the observer.
func (s *Store) observePage(known planner.Knowledge, e execution) {
	if s.options.Observer == nil {
		return
	}
	warm := known.Stats != nil
	s.options.Observer.CacheLookup("statistics", warm)
	estimated, consumed := 0.0, 0.0
	for _, r := range e.page.runs() {
		if r.plan.Estimated() && !r.plan.ByRank {
			estimated, consumed = estimated+r.plan.Chosen.Units, consumed+r.units()
		}
	}
	s.options.Observer.PageRead(warm, estimated, consumed, e.waves())
}

// CountedUpTo is a moment up to which every change of a comment is in the statistics, however old
// the comment; false when that is unknown. It reads the table at most once a second for all
// callers. It is false without a Watermark.
func (s *Store) CountedUpTo(ctx context.Context) (upTo time.Time, known bool) {
	if s.memory == nil {
		return time.Time{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	upTo, known, err := s.memory.mark.upTo(ctx)
	return upTo, known && err == nil
}
