package planner

import (
	"github.com/talkback/talkback/comment"
)

// Window is a range of positions in a list of the order of dates, and the direction in which it is
// read.
type Window struct {
	low, high  comment.Position
	descending bool
	// inside is whether it begins at a cursor, so that comments of the list probably come before it.
	inside bool
}

// windowOf returns the window of what a filter allows between two positions, both included; nil is no
// bound. It is read from start to end.
func windowOf(filter comment.Filter, descending bool, start, end *comment.Position) Window {
	w := Window{descending: descending, inside: start != nil}
	w.low, w.high = filter.Range()
	lower, upper := start, end
	if descending {
		lower, upper = upper, lower
	}
	if lower != nil && lower.Compare(w.low) > 0 {
		w.low = *lower
	}
	if upper != nil && upper.Compare(w.high) < 0 {
		w.high = *upper
	}
	return w
}

// Past is the remainder of the window after a read up to a position, that included.
func (w Window) Past(read comment.Position) Window {
	switch {
	case w.descending && read == comment.Position{}, !w.descending && read == comment.MaxPosition:
		w.low, w.high = comment.MaxPosition, comment.Position{} // nothing
	case w.descending:
		w.high = earlier(w.high, read.Previous())
	default:
		w.low = later(w.low, read.Next())
	}
	return w
}

func earlier(a, b comment.Position) comment.Position {
	if a.Compare(b) < 0 {
		return a
	}
	return b
}

func later(a, b comment.Position) comment.Position {
	if a.Compare(b) > 0 {
		return a
	}
	return b
}

// atEnd reports whether the window begins at an end of all lists.
func (w Window) atEnd() bool {
	if w.descending {
		return w.high == comment.MaxPosition
	}
	return w.low == comment.Position{}
}

func (w Window) empty() bool { return w.low.Compare(w.high) > 0 }
