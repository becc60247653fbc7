package dynamo

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/planner"
)

// answering answers one query: the page, and beside it what is looked up or counted of its list.
type answering struct {
	list      listing
	placement planner.Placement // of a page by number
	numbers   *numbersLookup    // nil if nothing is looked up
	count     *counting         // nil if nothing is counted by reading
}

func (s *Store) newAnswering(q comment.Query, key queryKey, known planner.Knowledge) *answering {
	a := new(answering)
	a.list.begin(s, q, key, known)
	if q.Slice.Page > 0 {
		a.placement = a.list.planner.Place(q, s.lookupPrices.expected())
	}
	a.numbers = s.newNumbersLookup(q, &a.list, a.placement.By == comment.ByIndex)
	return a
}

// place finds where a page by number begins. Other pages know.
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
	if rank >= total {
		a.list.moveTo(comment.Slice{FromEnd: true}, 0) // beyond the end: is there anything before it?
		return nil
	}
	skip, backwards := a.numbers.Skip()
	if !a.list.query.Numbering.Links && a.list.query.Order != comment.MostHelpful {
		a.list.store.lookupPrices.learn(a.numbers.Cost, skip)
	}
	slice := comment.Slice{Size: a.list.query.Slice.Size, After: a.numbers.Start.After}
	if backwards {
		slice = comment.Slice{Size: min(slice.Size, total-rank), FromEnd: true, Before: behind(a.list.query.Order, a.numbers.Start.After)}
	}
	a.list.moveTo(slice, skip)
	return nil
}

// behind returns the next place in an order among comments of one key, nil if there is none.
func behind(order comment.Order, at *comment.Place) *comment.Place {
	switch {
	case order.Descends() && at.Position != (comment.Position{}):
		return &comment.Place{Key: at.Key, Position: at.Position.Previous()}
	case !order.Descends() && at.Position != comment.MaxPosition:
		return &comment.Place{Key: at.Key, Position: at.Position.Next()}
	}
	return nil
}

// aside looks up what is left, and counts by reading what could not be looked up. Its error is nil:
// the page stands without all of it.
func (a *answering) aside(ctx context.Context) error {
	if a.numbers != nil {
		a.numbers.finish(ctx)
	}
	if a.list.query.Count == comment.CountNothing || a.numbers.listCounts() != nil {
		return nil
	}
	a.count = a.list.store.newCounting(ctx, a.list.query, a.list.planner.Known)
	return a.count.execute(ctx)
}

// page puts the answer together.
func (a *answering) page() sharedPage {
	page := a.list.page
	page.Numbered = a.numbers.pageNumbers(a.list.query)
	if a.list.query.Count != comment.CountNothing {
		page.Counted = a.numbers.listCounts()
	}
	if a.count != nil {
		page.Counted = a.count.result()
	}
	return page
}

// explain returns a function that explains how the page was read; took is how long that took.
func (a *answering) explain(took time.Duration) func() comment.QueryPlan {
	execution, count, position, returned := a.list.execution, a.count, a.position(), len(a.list.page.comments)
	return func() comment.QueryPlan {
		plan := explain(execution, count, position, returned)
		plan.Duration = took
		return plan
	}
}

// position says how the page was found, nil if there is nothing to say.
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
