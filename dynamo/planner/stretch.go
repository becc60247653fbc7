package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Stretch is the part of a list that a page is read from, in the direction in which it is read. A
// list is a chain of links, each in the order of dates. In an order by date it has one link.
//
// A page must say whether there are comments before and after it. The stretch includes its cursors,
// because the comment at a cursor answers that: unless it was deleted or edited meanwhile, the
// answer costs no further read.
type Stretch struct {
	// Links are the links that the stretch touches, in the direction of reading.
	Links []comment.Link

	filter comment.Filter // the filter of the whole list
	order  comment.Order
	// backwards is whether reading goes from the end of the list to its start.
	backwards bool
	// start and end are the cursors where reading starts and must stop; nil for none.
	start, end *comment.Place
	// beyond excludes the place at the start.
	beyond bool
	// skip is how many comments to leave out before the page.
	skip int
}

// StretchOf returns the stretch of a query. A page counted from the end of the list is read
// backwards.
func StretchOf(q comment.Query) Stretch {
	s := Stretch{filter: q.Filter, order: q.Order, backwards: q.Slice.FromEnd, start: q.Slice.After, end: q.Slice.Before}
	if s.backwards {
		s.start, s.end = s.end, s.start
	}
	return s.linked()
}

// linked returns the stretch with its Links set.
func (s Stretch) linked() Stretch {
	s.Links = s.order.Links(s.filter)
	if s.backwards {
		slices.Reverse(s.Links)
	}
	s.Links = slices.DeleteFunc(s.Links, func(link comment.Link) bool {
		return s.start != nil && s.beyondKey(link, s.start.Key, -1) || s.end != nil && s.beyondKey(link, s.end.Key, 1)
	})
	return s
}

// beyondKey reports whether all comments of a link come before those with a key (side -1), or
// behind them (side 1).
func (s Stretch) beyondKey(link comment.Link, key int32, side int) bool {
	return s.compareKeys(link.Low, key)*side > 0 && s.compareKeys(link.High, key)*side > 0
}

// Window returns the window that a link of the stretch is read from.
func (s Stretch) Window(link comment.Link) Window {
	start, end := s.start, s.end
	if start != nil && !link.Has(start.Key) {
		start = nil
	}
	if end != nil && !link.Has(end.Key) {
		end = nil
	}
	w := datedWindow(link.Filter, s.order.Descends() != s.backwards)
	if link.ByVotes() {
		high := comment.Place{Key: link.High, Position: comment.MaxPosition}
		if w.empty() { // the filter's dates are empty
			high = comment.Place{}
		}
		w = Window{low: comment.Place{Key: link.Low}, high: high, descending: w.descending, byVotes: true}
	}
	w = w.between(start, end)
	if s.beyond && start != nil {
		if len(s.Links) == 1 { // with more links, the comment there may have come back from another one since
			w = w.Past(*start)
		}
		w.inside = false
	}
	return w
}

// WholeWindow returns the window of the whole list, regardless of the stretch's cursors.
func (s Stretch) WholeWindow() Window { return datedWindow(s.filter, s.order.Descends()) }

// whole reports whether all comments of a link are in the stretch.
func (s Stretch) whole(link comment.Link) bool {
	return (s.start == nil || !link.Has(s.start.Key)) && (s.end == nil || !link.Has(s.end.Key)) && !link.Filter.Dated()
}

// compare orders places in the direction of reading.
func (s Stretch) compare(a, b comment.Place) int {
	if s.backwards {
		a, b = b, a
	}
	return s.order.Compare(a, b)
}

func (s Stretch) compareKeys(a, b int32) int {
	return s.compare(comment.Place{Key: a}, comment.Place{Key: b})
}

// Sort puts comments into the direction of reading.
func (s Stretch) Sort(comments []layout.Compressed) {
	slices.SortFunc(comments, func(a, b layout.Compressed) int {
		return s.compare(s.order.PlaceOf(a.Comment), s.order.PlaceOf(b.Comment))
	})
}

// Skipping returns the stretch with skip comments to leave out before the page.
func (s Stretch) Skipping(skip int) Stretch {
	s.skip = skip
	return s
}

// Skip returns how many comments to leave out before the page.
func (s Stretch) Skip() int { return s.skip }

// WantSkipped returns how many comments to take to get past the skipped ones: these and the one at
// the starting cursor.
func (s Stretch) WantSkipped() int {
	if s.start == nil {
		return s.skip
	}
	return s.skip + 1
}

// Want returns how many comments to take for a page: those skipped and shown, one beyond, and the
// one at the starting cursor.
func (s Stretch) Want(size int) int { return s.WantSkipped() + size + 1 }

// LastSkipped returns the place of the last skipped comment among those taken. found is false if
// the list ends before.
func (s Stretch) LastSkipped(taken []layout.Compressed) (last comment.Place, found bool) {
	taken, _ = s.pastStart(taken)
	if len(taken) < s.skip {
		return last, false
	}
	return s.order.PlaceOf(taken[s.skip-1].Comment), true
}

// From returns the stretch from a place on. The place becomes its starting cursor, and nothing is
// skipped.
func (s Stretch) From(start comment.Place) Stretch {
	s.start, s.skip = &start, 0
	return s.linked()
}

// pastStart drops comments at the starting cursor and behind it, and reports whether there were
// any.
func (s Stretch) pastStart(taken []layout.Compressed) (rest []layout.Compressed, behind bool) {
	for s.start != nil && len(taken) > 0 && s.compare(s.order.PlaceOf(taken[0].Comment), *s.start) <= 0 {
		taken, behind = taken[1:], true
	}
	return taken, behind
}

// Neighbours says whether there are comments behind the page (where reading came from) and ahead of
// it, as far as known.
type Neighbours struct{ Behind, Ahead Answer }

// Answer says whether there is a comment.
type Answer int

// The answers.
const (
	No      Answer = iota // there is none
	Yes                   // there is one
	Unknown               // a probe has to look
)

// AnswerOf is Yes or No.
func AnswerOf(there bool) Answer {
	if there {
		return Yes
	}
	return No
}

// Cut cuts the comments taken, in the direction of reading, to the page. all is whether they are
// the whole list, and not only the stretch.
func (s Stretch) Cut(taken []layout.Compressed, size int, all bool) ([]layout.Compressed, Neighbours) {
	var n Neighbours
	if s.start != nil && !all {
		n.Behind = Unknown
	}
	taken, behind := s.pastStart(taken)
	if behind {
		n.Behind = Yes
	}
	if s.end != nil && !all {
		n.Ahead = Unknown
	}
	for s.end != nil && len(taken) > 0 && s.compare(s.order.PlaceOf(taken[len(taken)-1].Comment), *s.end) >= 0 {
		n.Ahead, taken = Yes, taken[:len(taken)-1]
	}
	if skipped := min(s.skip, len(taken)); skipped > 0 {
		n.Behind = Yes
		taken = taken[skipped:]
	}
	if len(taken) > size {
		n.Ahead = Yes
		taken = taken[:size]
	}
	return taken, n
}

// Behind returns the stretch behind the starting cursor, nearest comments first.
func (s Stretch) Behind() Stretch { return s.from(s.start, !s.backwards) }

// Ahead returns the stretch ahead of the ending cursor, nearest comments first.
func (s Stretch) Ahead() Stretch { return s.from(s.end, s.backwards) }

func (s Stretch) from(cursor *comment.Place, backwards bool) Stretch {
	return Stretch{filter: s.filter, order: s.order, backwards: backwards, start: cursor, beyond: true}.linked()
}

// Window is a range of places in a link of a list, and the direction in which it is read.
type Window struct {
	low, high  comment.Place
	descending bool
	// inside is whether the window begins at a cursor, so that comments of the list probably come
	// before it.
	inside bool
	// byVotes is whether places are read in the order of net votes. Then the filter's dates do not
	// bound the window.
	byVotes bool
}

// datedWindow returns the window of a filter's dates, in the order of dates.
func datedWindow(filter comment.Filter, descending bool) Window {
	w := Window{descending: descending}
	w.low.Position, w.high.Position = filter.Range()
	return w
}

// between returns the window from start to end in the direction of reading, both included; nil is
// no bound.
func (w Window) between(start, end *comment.Place) Window {
	w.inside = start != nil
	lower, upper := start, end
	if w.descending {
		lower, upper = upper, lower
	}
	if lower != nil {
		w.low = slices.MaxFunc([]comment.Place{w.low, w.keyed(*lower)}, comment.Place.Compare)
	}
	if upper != nil {
		w.high = slices.MinFunc([]comment.Place{w.high, w.keyed(*upper)}, comment.Place.Compare)
	}
	return w
}

// keyed returns a place with its key as in the window: in the order of dates all keys are 0.
func (w Window) keyed(p comment.Place) comment.Place {
	if !w.byVotes {
		p.Key = 0
	}
	return p
}

// Past returns the remainder of the window after a read up to and including a place.
func (w Window) Past(read comment.Place) Window {
	if read = w.keyed(read); w.descending {
		w.high = slices.MinFunc([]comment.Place{w.high, read.Previous()}, comment.Place.Compare)
	} else {
		w.low = slices.MaxFunc([]comment.Place{w.low, read.Next()}, comment.Place.Compare)
	}
	return w
}

// atEnd reports whether the window begins at the oldest or newest possible position.
func (w Window) atEnd() bool {
	if w.descending {
		return w.high.Position == comment.MaxPosition
	}
	return w.low.Position == comment.Position{}
}

func (w Window) empty() bool { return w.low.Compare(w.high) > 0 }
