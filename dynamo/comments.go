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
// Comments whose texts are damaged are left out and reported. The page may be shared with other
// callers of the same query, so do not change it.
func (s *Store) Comments(ctx context.Context, q comment.Query) (comment.Page, error) {
	key := keyOf(q)
	shared, cached := s.cache.find(key, s.changes.last(q.Product))
	if s.options.Observer != nil && s.cache != nil {
		s.options.Observer.CacheLookup("pages", cached)
	}
	if !cached {
		var err error
		a := answering{list: listing{source: source{store: s, query: q, key: key}}}
		shared, err = s.flights.join(ctx, flightKey{key, s.changes.number(q.Product)}, a.answer)
		if err != nil {
			return comment.Page{}, err
		}
	}
	// The shared page stays compressed. Decompressed texts count as memory held by the caller's
	// operation; uncompressed ones were counted when they were read.
	page, account := shared.Page, usage.From(ctx)
	page.Comments = slices.Grow(page.Comments, len(shared.comments))
	for _, compressed := range shared.comments {
		c, err := compressed.Decompress()
		if err != nil {
			s.malformed.Report(layout.NewImproper(layout.CommentKey(c.ID), err.Error()))
			continue
		}
		if compressed.CompressedText != nil {
			if err := account.Hold(len(c.Text)); err != nil {
				return comment.Page{}, err
			}
		}
		page.Comments = append(page.Comments, c)
	}
	return page, nil
}

// Warm reads what the planner uses for a product: its statistics and the sizes of its comments. It
// needs a Watermark.
func (s *Store) Warm(ctx context.Context, product string) error {
	if err := s.memory.fetch(ctx, product); err != nil {
		return call.Wrap(err, "statistics of product %q", product)
	}
	_, err := s.Comments(ctx, comment.Query{
		Product: product, Order: comment.NewestFirst, Slice: comment.Slice{Size: comment.DefaultPageSize},
	})
	return err
}

func (s *Store) observePage(known planner.Knowledge, e execution) {
	if s.options.Observer == nil {
		return
	}
	warm := known.Stats != nil
	s.options.Observer.CacheLookup("statistics", warm)
	estimated, consumed := 0.0, 0.0
	for _, reading := range e.page {
		for _, r := range reading.runs() {
			if r.plan.Estimated() && !r.plan.ByRank {
				estimated, consumed = estimated+r.plan.Chosen.Units, consumed+r.units()
			}
		}
	}
	s.options.Observer.PageRead(warm, estimated, consumed, e.waves())
}

// CountedUpTo returns a time up to which the statistics include every change of a comment, however
// old the comment. known is false if no such time is known, and without a Watermark. It reads the
// table at most once a second for all callers.
func (s *Store) CountedUpTo(ctx context.Context) (upTo time.Time, known bool) {
	if s.memory == nil {
		return time.Time{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, recallTimeout)
	defer cancel()
	upTo, known, err := s.memory.mark.upTo(ctx)
	return upTo, known && err == nil
}

// answering answers one query: the page, and its page numbers and counts beside it.
type answering struct {
	list      listing
	front     *listing          // reads the first half of a page that is read from its middle; nil for other pages
	placement planner.Placement // how a page by number is found
	numbers   *numbersLookup    // nil if nothing is looked up
	counted   *run              // counts the list beside the page; nil if nothing is counted by reading
	countErr  error
}

// answer reads a page and caches it. In parallel it looks up page numbers and counts, if the query
// asks for them.
func (a *answering) answer(ctx context.Context) (sharedPage, error) {
	s, q := a.list.store, a.list.query
	began, known := s.now(), s.knowledge(q)
	a.list.begin(known)
	if q.Slice.Page > 0 {
		a.placement = a.list.planner.Place(q, s.lookupPrices.ranks().Lookup)
	}
	a.numbers = s.newNumbersLookup(q, &a.list, a.placement.By == comment.ByIndex)
	err := a.place(ctx)
	switch {
	case err != nil:
	case a.numbers == nil && q.Count == comment.CountNothing:
		err = a.list.read(ctx)
	default:
		steps := [...]func(context.Context) error{a.read, a.aside}
		err = call.Parallel(ctx, len(steps), func(ctx context.Context, i int) error { return steps[i](ctx) })
	}
	if err != nil {
		return sharedPage{}, err
	}
	s.observePage(known, a.list.execution)
	page := a.page(s.now().Sub(began))
	s.cache.keep(a.list.key, page, began)
	return page, nil
}

// place finds where a page by number begins. For other pages it does nothing.
func (a *answering) place(ctx context.Context) error {
	switch {
	case a.list.query.Slice.Page == 0:
		return nil
	case a.list.store.options.PageNumbers == nil:
		return errNoNumbers
	case a.placement.By == comment.ByReading:
		a.list.moveTo(comment.Slice{Size: a.placement.Size, FromEnd: a.placement.FromEnd}, a.placement.Skip)
		return nil
	}
	if err := a.numbers.begin(ctx); err != nil {
		return call.Wrap(err, "place of page %d of product %q", a.list.query.Slice.Page, a.list.query.Product)
	}
	rank, total := a.list.query.Slice.Rank(), a.numbers.Counts.Total()
	a.list.planner.Counted = total
	if rank >= total {
		a.list.moveTo(comment.Slice{FromEnd: true}, 0) // beyond the end: is there anything before it?
		return nil
	}
	skip, backwards := a.numbers.Skip()
	if !a.list.query.Numbering.Links && a.list.query.Order != comment.MostHelpful {
		a.list.store.lookupPrices.learn(a.numbers.Cost, skip)
	}
	start, inFront := a.numbers.Start.After, a.numbers.InFront()
	slice := comment.Slice{Size: a.list.query.Slice.Size - inFront, After: start}
	if backwards {
		slice = a.inFrontOf(start, min(slice.Size, total-rank))
	}
	if inFront > 0 {
		a.list.joined, a.front = true, new(a.list)
		a.front.joined = true
		a.front.moveTo(a.inFrontOf(start, inFront), 0)
	}
	a.list.moveTo(slice, skip)
	return nil
}

// inFrontOf returns the slice of the last size comments up to a place, the one at the place
// included. It ends before the next place of the same key, or at the end of the list if there is
// none.
func (a *answering) inFrontOf(place *comment.Place, size int) comment.Slice {
	slice := comment.Slice{Size: size, FromEnd: true}
	switch descends := a.list.query.Order.Descends(); {
	case descends && place.Position != (comment.Position{}):
		slice.Before = new(place.Previous())
	case !descends && place.Position != comment.MaxPosition:
		slice.Before = new(place.Next())
	}
	return slice
}

// read reads the page. If its middle was found, it reads both halves from there in parallel.
func (a *answering) read(ctx context.Context) error {
	if a.front == nil {
		return a.list.read(ctx)
	}
	halves := [...]*listing{a.front, &a.list}
	err := call.Parallel(ctx, len(halves), func(ctx context.Context, i int) error { return halves[i].read(ctx) })
	front, page := a.front.page, &a.list.page
	page.comments, page.HasPrevious = slices.Concat(front.comments, page.comments), front.HasPrevious
	a.list.execution.page = slices.Concat(a.front.execution.page, a.list.execution.page)
	return err
}

// aside finishes the lookups, and counts by reading if the lookup gave no counts. It always returns
// nil: the page is complete without its results.
func (a *answering) aside(ctx context.Context) error {
	if a.numbers != nil && a.numbers.begin(ctx) == nil {
		a.numbers.err = a.numbers.Finish(ctx)
	}
	if a.list.query.Count == comment.CountNothing || a.numbers.listCounts() != nil {
		return nil
	}
	q := a.list.query
	list := planner.Planner{Product: q.Product, Filter: q.Filter, Known: a.list.planner.Known}
	a.counted = a.list.store.newRun(ctx, layout.NewMeter(planner.CountEstimate(q), countCure), list.Count(q.Count))
	a.countErr = call.Wrap(a.counted.countAll(ctx), "count of comments of product %q", q.Product)
	return nil
}

// page assembles the answer; took is how long it took.
func (a *answering) page(took time.Duration) sharedPage {
	page := a.list.page
	switch {
	case a.numbers == nil || a.numbers.err != nil && !a.list.query.Numbering.Asks():
	case a.numbers.err != nil:
		page.Numbered = &comment.Numbered{Err: a.numbers.err}
	default:
		page.Numbered = new(a.numbers.Numbered())
	}
	if a.list.query.Count != comment.CountNothing {
		page.Counted = a.numbers.listCounts()
	}
	if a.counted != nil {
		page.Counted = &comment.Counted{Err: a.countErr}
		for i := range a.counted.reads {
			read := &a.counted.reads[i]
			page.Counted.Total += read.returned
			if rating := read.Partition.Rating; rating > 0 {
				page.Counted.ByRating[rating-1] += read.returned
			}
		}
	}
	execution, counted, position, returned := a.list.execution, a.counted, a.position(), len(page.comments)
	page.Explain = func() comment.QueryPlan {
		plan := explain(execution, counted, position, returned)
		plan.Duration = took
		return plan
	}
	return page
}

// position describes how the page was found; nil for a page by cursor that needed no lookup.
func (a *answering) position() *comment.PagePosition {
	numbered := a.numbers != nil && a.numbers.Numbers != nil && a.numbers.Cost.Calls > 0
	cost := a.list.execution.lookups()
	if numbered {
		cost.Add(a.numbers.Cost)
	}
	if a.list.query.Slice.Page == 0 && cost.Calls == 0 {
		return nil
	}
	out := &comment.PagePosition{By: comment.ByCursor, Skipped: a.list.skipped}
	if a.list.query.Slice.Page > 0 {
		out.By, out.Rank = a.placement.By, new(a.list.query.Slice.Rank())
	}
	out.Calls, out.Waves, out.ReadUnits = cost.Calls, cost.Waves, cost.ReadUnits
	out.Counted = numbered && a.list.query.Count != comment.CountNothing && a.numbers.err == nil
	return out
}

// countCure is the advice in the error of a count that reached its cost bound.
const countCure = "choose a shorter range of dates, or leave out totalCount and stats"

// countAll counts wave by wave until each read of the run ends. DynamoDB counts up to 1 MB a call,
// and each wave stays within the rest of the cost bound. The first failure cancels the other reads
// and fails the count, so a count is never short without an error.
func (r *run) countAll(ctx context.Context) error {
	for {
		var unread []*read
		for i := range r.reads {
			if one := &r.reads[i]; one.queries == 0 || len(one.start) > 0 {
				unread = append(unread, one)
			}
		}
		if len(unread) == 0 {
			return nil
		}
		limit, err := r.meter.CountLimit(len(unread))
		if err != nil {
			return err
		}
		for _, one := range unread {
			one.limit = limit
		}
		waveCtx, span := r.observe(ctx, len(unread))
		err = call.Parallel(waveCtx, len(unread), func(ctx context.Context, i int) error {
			_, err := r.query(ctx, unread[i]) // a count brings no items
			return err
		})
		span.End()
		if err != nil {
			return err
		}
	}
}
