package planner

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Window is the stretch of a list that a page is read from, in the direction in which it is read.
//
// A page must say whether anything stands before and after it. The comment at a cursor is such a
// thing, so the window includes its cursors: when that comment comes along (as it does unless it
// was deleted or edited meanwhile), the answer costs no further read.
type Window struct {
	low, high  comment.Position
	descending bool
	// start and end are the cursors where reading starts and must stop; nil for none.
	start, end *comment.Position
	// skip is how many comments to leave out before the page.
	skip int
}

// Skipping is the window with skip comments to leave out before the page.
func (w Window) Skipping(skip int) Window {
	w.skip = skip
	return w
}

// Skip is how many comments to leave out before the page.
func (w Window) Skip() int { return w.skip }

// WantSkipped is how many comments to take to get past those that are left out: these and the one at
// the starting cursor.
func (w Window) WantSkipped() int {
	if w.start == nil {
		return w.skip
	}
	return w.skip + 1
}

// LastSkipped is the position of the last comment that is left out, of what was taken from the
// window. It is not found if the list ends before.
func (w Window) LastSkipped(taken []layout.Compressed) (last comment.Position, found bool) {
	if w.start != nil && len(taken) > 0 && taken[0].ID.Position() == *w.start {
		taken = taken[1:]
	}
	if len(taken) < w.skip {
		return last, false
	}
	return taken[w.skip-1].ID.Position(), true
}

// From is the part of the window from a position on: the comment there is behind the page. It skips
// nothing.
func (w Window) From(start comment.Position) Window {
	w.start, w.skip = &start, 0
	if w.descending {
		w.high = start
	} else {
		w.low = start
	}
	return w
}

// Past is the remainder of the window after a read up to a position, that included.
func (w Window) Past(read comment.Position) Window {
	switch {
	case w.descending && read == comment.Position{}, !w.descending && read == comment.MaxPosition:
		w.low, w.high = comment.MaxPosition, comment.Position{} // nothing
	case w.descending:
		w.high = read.Previous()
	default:
		w.low = read.Next()
	}
	return w
}

// WindowOf is the window of a question. A page counted from the end of the list is read backwards.
func WindowOf(q comment.Query) Window {
	w := Window{
		descending: q.Order.Descends() != q.Slice.FromEnd,
		start:      q.Slice.After,
		end:        q.Slice.Before,
	}
	if q.Slice.FromEnd {
		w.start, w.end = w.end, w.start
	}
	w.low, w.high = q.Filter.Range()
	lower, upper := w.start, w.end
	if w.descending {
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

func (w Window) empty() bool { return w.low.Compare(w.high) > 0 }

// Want is how many comments to take for a page: those skipped and shown, one beyond, and the one at
// the starting cursor.
func (w Window) Want(size int) int {
	if w.start == nil {
		return w.skip + size + 1
	}
	return w.skip + size + 2
}

// Neighbours tells whether there are comments behind the page (where reading came from) and ahead
// of it, as far as that is known.
type Neighbours struct{ Behind, Ahead Answer }

// Answer tells whether there is a comment.
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

// Cut makes the page out of what was taken from the window, in the direction of reading.
func (w Window) Cut(taken []layout.Compressed, size int) ([]layout.Compressed, Neighbours) {
	var n Neighbours
	if w.start != nil {
		n.Behind = Unknown
		if len(taken) > 0 && taken[0].ID.Position() == *w.start {
			n.Behind = Yes
			taken = taken[1:]
		}
	}
	if w.end != nil {
		n.Ahead = Unknown
		if last := len(taken) - 1; last >= 0 && taken[last].ID.Position() == *w.end {
			n.Ahead = Yes
			taken = taken[:last]
		}
	}
	if skipped := min(w.skip, len(taken)); skipped > 0 {
		n.Behind = Yes
		taken = taken[skipped:]
	}
	if len(taken) > size {
		n.Ahead = Yes
		taken = taken[:size]
	}
	return taken, n
}

// Behind is the window of what stands behind the starting cursor, nearest first.
func (w Window) Behind(filter comment.Filter) Window {
	return beyond(filter, *w.start, !w.descending)
}

// Ahead is the window of what stands ahead of the ending cursor, nearest first.
func (w Window) Ahead(filter comment.Filter) Window {
	return beyond(filter, *w.end, w.descending)
}

func beyond(filter comment.Filter, cursor comment.Position, descending bool) Window {
	w := Window{descending: descending}
	w.low, w.high = filter.Range()
	if limit := cursor.Previous(); descending && limit.Compare(w.high) < 0 {
		w.high = limit
	}
	if limit := cursor.Next(); !descending && limit.Compare(w.low) > 0 {
		w.low = limit
	}
	return w
}
