package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
)

// numbersLookup is the lookup of one page in the index of page numbers. It keeps its error, because
// only a page that is queried by number needs the answer.
type numbersLookup struct {
	*pageindex.Numbers
	begun bool
	err   error
}

// errNoNumbers refuses a query that needs page numbers on a server without them.
var errNoNumbers = comment.Errorf(comment.BadInput, "page numbers are off on this server: page with cursors, or start it with --pages table or another store")

// errNotIndexed refuses page numbers with a filter that the index does not support.
var errNotIndexed = comment.Errorf(comment.BadInput, "there are no page numbers with this filter: page with cursors")

// newNumbersLookup returns the lookup for a query; nil if it needs none, because page numbers may
// follow from the statistics. A count of a range of dates is looked up if there is an index, and
// read otherwise.
func (s *Store) newNumbersLookup(q comment.Query, of *listing, place bool) *numbersLookup {
	indexed := s.options.PageNumbers != nil && q.Filter.OfCells()
	counts := q.Count != comment.CountNothing && indexed
	switch asks := place || counts || q.LooksUp(); {
	case !asks && (indexed || !q.Numbering.Asks()):
		return nil
	case s.options.PageNumbers == nil:
		return &numbersLookup{err: errNoNumbers}
	case !indexed:
		return &numbersLookup{err: errNotIndexed}
	}
	list, voted := of.planner, &votedPlaces{source: of.source}
	voted.meter = layout.NewMeter(planner.VotedEstimate(of.query, comment.MaxVotedRank)/layout.BoundFactor, votedCure)
	return &numbersLookup{Numbers: pageindex.NewNumbers(s.options.PageNumbers, pageindex.NumbersWanted{
		List:  pageindex.List{Product: q.Product, Filter: q.Filter, Order: list.Ranked(q)},
		Slice: q.Slice, Place: place, MostSkip: list.MostSkip(), Counts: counts, Numbering: q.Numbering, Total: list.Total(), Exact: list.Exactly(),
		Voted: voted.find,
	})}
}

// votedCure is the advice in the error of places that reached their cost bound.
const votedCure = "few comments with helpful votes match the filter, or they are large: page with cursors, or leave out dates"

// votedPlaces finds places among a list's comments with helpful votes. It reads these comments from
// the first one on, each once.
type votedPlaces struct {
	source
	found []layout.Compressed
	ended bool // whether these are all
	cost  pageindex.Cost
}

// find implements pageindex.FindVoted.
func (v *votedPlaces) find(ctx context.Context, list int, targets []pageindex.VotedTarget) ([]pageindex.Start, pageindex.Cost, error) {
	v.cost, v.planner.Counted = pageindex.Cost{}, list
	rank, starts := 0, make([]pageindex.Start, len(targets))
	for _, target := range targets {
		if target.At != nil {
			if err := v.read(ctx, comment.MaxVotedRank+1, target.At); err != nil {
				return nil, v.cost, err
			}
		} else if target.Rank <= comment.MaxVotedRank {
			rank = max(rank, target.Rank)
		}
	}
	if err := v.read(ctx, rank, nil); err != nil {
		return nil, v.cost, err
	}
	for i, target := range targets {
		starts[i] = startOf(target, v.found)
	}
	return starts, v.cost, nil
}

// read continues until number comments are found or, with upTo, all comments up to that place.
func (v *votedPlaces) read(ctx context.Context, number int, upTo *comment.Place) error {
	slice := comment.Slice{Size: number - len(v.found), Before: &comment.Place{Key: 1}} // all with votes
	if upTo != nil && upTo.Previous().Key > 0 {
		slice.Before = new(upTo.Previous())
	}
	if len(v.found) > 0 {
		slice.After = new(comment.MostHelpful.PlaceOf(v.found[len(v.found)-1].Comment))
	}
	reached := slice.After != nil && upTo != nil && comment.MostHelpful.Compare(*slice.After, *upTo) >= 0
	if v.ended || slice.Size <= 0 || reached {
		return nil
	}
	stretch := planner.StretchOf(comment.Query{Product: v.query.Product, Filter: v.query.Filter, Order: comment.MostHelpful, Slice: slice})
	// The whole list may be read instead, for up to three times the units given.
	r := v.reading(stretch, planner.Request{Purpose: comment.ReadSkip, Want: stretch.Want(slice.Size) - 1, WithoutText: true}, v.meter.Most()/3)
	taken, err := r.take(ctx)
	if err != nil {
		return call.Wrap(err, "places among the most helpful comments of product %q", v.query.Product)
	}
	v.store.malformed.Report(r.improper()...)
	v.cost.Add(r.cost())
	taken, _ = stretch.Cut(taken, slice.Size, false)
	v.found, v.ended = append(v.found, taken...), upTo == nil && len(taken) < slice.Size
	return nil
}

// startOf finds the start for a target; found are the first comments of the list.
func startOf(target pageindex.VotedTarget, found []layout.Compressed) pageindex.Start {
	rank := target.Rank
	if target.At != nil {
		rank = 0
		for rank < len(found) && comment.MostHelpful.Compare(comment.MostHelpful.PlaceOf(found[rank].Comment), *target.At) <= 0 {
			rank++
		}
	}
	switch {
	case rank > comment.MaxVotedRank:
		return pageindex.Start{Rank: pageindex.Beyond}
	case target.At != nil:
		return pageindex.Start{Rank: rank, After: target.At}
	}
	if rank = min(rank, len(found)); rank == 0 {
		return pageindex.Start{}
	}
	return pageindex.Start{Rank: rank, After: new(comment.MostHelpful.PlaceOf(found[rank-1].Comment))}
}

// begin makes the first call, unless it was made already. It returns the error of that call.
func (l *numbersLookup) begin(ctx context.Context) error {
	if l.err == nil && !l.begun {
		l.begun = true
		l.err = l.Begin(ctx)
	}
	return l.err
}

// listCounts returns the counts of the list; nil if the comments have to be read for them.
func (l *numbersLookup) listCounts() *comment.Counted {
	if l == nil || l.err != nil {
		return nil
	}
	return &comment.Counted{Total: l.Counts.Total(), ByRating: l.Counts}
}
