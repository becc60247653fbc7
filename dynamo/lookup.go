package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
)

// numbersLookup is the lookup of one page in the index of page numbers. It keeps its error: only a
// page that was queried by number needs the answer.
type numbersLookup struct {
	*pageindex.Numbers
	begun bool
	err   error
}

// errNoNumbers says that page numbers are off. A retry would fail too.
var errNoNumbers = comment.Errorf(comment.BadInput, "page numbers are off on this server: page with cursors, or start it with --pages table or another store")

// errNotIndexed says that the index does not know a condition of the filter.
var errNotIndexed = comment.Errorf(comment.BadInput, "there are no page numbers with this filter: page with cursors")

// newNumbersLookup returns the lookup for a query, nil if it needs none: page numbers may follow from
// the statistics. A count of a range of dates is looked up if there is an index, and otherwise read.
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
	list := of.planner
	return &numbersLookup{Numbers: pageindex.NewNumbers(s.options.PageNumbers, pageindex.NumbersWanted{
		List:  pageindex.List{Product: q.Product, Filter: q.Filter, Order: list.Ranked(q)},
		Slice: q.Slice, Place: place, MostSkip: planner.MaxSkip, Counts: counts, Numbering: q.Numbering, Total: list.Total(), Exact: list.Exactly(),
		Voted: of.source.findVoted,
	})}
}

// findVoted finds places among the comments with helpful votes of a list, by reading them from the first
// one on.
func (l source) findVoted(ctx context.Context, targets []pageindex.VotedTarget) (starts []pageindex.Start, cost pageindex.Cost, err error) {
	deepest := 0
	for _, target := range targets {
		if deepest = max(deepest, target.Rank); target.At != nil {
			deepest = comment.MaxVotedRank + 1
		}
	}
	l.meter = layout.NewMeter(planner.VotedEstimate(l.query, comment.MaxVotedRank)/layout.BoundFactor, pageCure)
	whole := comment.Query{Product: l.query.Product, Filter: l.query.Filter, Order: comment.MostHelpful}
	r := l.reading(planner.StretchOf(whole), planner.Request{
		Purpose: comment.ReadSkip, Want: min(deepest, comment.MaxVotedRank+1), WithoutText: true,
	}, l.meter.Estimate)
	found, err := r.take(ctx)
	if err != nil {
		return nil, cost, call.Wrap(err, "places among the most helpful comments of product %q", l.query.Product)
	}
	l.store.malformed.Report(r.improper()...)
	starts = make([]pageindex.Start, len(targets))
	for i, target := range targets {
		starts[i] = startOf(target, found)
	}
	return starts, r.cost(), nil
}

// startOf finds a target among the first comments of a list.
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

// begin makes the first call, unless it was made.
func (l *numbersLookup) begin(ctx context.Context) error {
	if l.err == nil && !l.begun {
		l.begun = true
		l.err = l.Begin(ctx)
	}
	return l.err
}

// finish makes the calls that are left.
func (l *numbersLookup) finish(ctx context.Context) {
	if l.begin(ctx) == nil {
		l.err = l.Finish(ctx)
	}
}

// listCounts returns the counts of the list, nil if they have to be read.
func (l *numbersLookup) listCounts() *comment.Counted {
	if l == nil || l.err != nil {
		return nil
	}
	return &comment.Counted{Total: l.Counts.Total(), ByRating: l.Counts}
}

// pageNumbers returns the page numbers for the answer, nil for none.
func (l *numbersLookup) pageNumbers(q comment.Query) *comment.Numbered {
	switch {
	case l == nil || l.err != nil && !q.Numbering.Asks():
		return nil
	case l.err != nil:
		return &comment.Numbered{Err: l.err}
	}
	numbered := l.Numbered()
	return &numbered
}
