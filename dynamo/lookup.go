package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
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
func (s *Store) newNumbersLookup(q comment.Query, list planner.Planner, place bool) *numbersLookup {
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
	return &numbersLookup{Numbers: pageindex.NewNumbers(s.options.PageNumbers, pageindex.NumbersWanted{
		List:  pageindex.List{Product: q.Product, Filter: q.Filter, Order: q.Order},
		Slice: q.Slice, Place: place, MostSkip: planner.MaxSkip, Counts: counts, Numbering: q.Numbering, Total: list.Total(), Exact: list.Exactly(),
	})}
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
