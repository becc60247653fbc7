package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

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
