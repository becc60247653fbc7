package dynamo

import "github.com/talkback/talkback/comment"

// window is the stretch of a list that a page is read from, in the direction in which it is read.
//
// A page must say whether anything stands before and after it. The comment at a cursor is such a thing, so the window
// includes its cursors: when that comment comes along (as it does unless it was deleted or edited meanwhile), the answer
// costs no further read.
type window struct {
	low, high  comment.Position
	descending bool
	// start and end are the cursors where reading starts and must stop; nil for none.
	start, end *comment.Position
}

// windowOf is the window of a question. A page counted from the end of the list is read backwards.
func windowOf(q comment.Query) window {
	w := window{
		descending: (q.Order == comment.NewestFirst) != q.Slice.FromEnd,
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

func (w window) empty() bool { return w.low.Compare(w.high) > 0 }

// want is how many comments to take for a page: those shown, one beyond, and the one at the starting cursor.
func (w window) want(size int) int {
	if w.start == nil {
		return size + 1
	}
	return size + 2
}

// neighbours tells what is known of the comments behind the page (where reading came from) and ahead of it.
type neighbours struct{ behind, ahead knowledge }

type knowledge int

const (
	no knowledge = iota
	yes
	unknown
)

// cut makes the page out of what was taken from the window, in the direction of reading.
func (w window) cut(taken []comment.Comment, size int) ([]comment.Comment, neighbours) {
	var n neighbours
	if w.start != nil {
		n.behind = unknown
		if len(taken) > 0 && taken[0].ID.Position() == *w.start {
			n.behind = yes
			taken = taken[1:]
		}
	}
	if w.end != nil {
		n.ahead = unknown
		if last := len(taken) - 1; last >= 0 && taken[last].ID.Position() == *w.end {
			n.ahead = yes
			taken = taken[:last]
		}
	}
	if len(taken) > size {
		n.ahead = yes
		taken = taken[:size]
	}
	return taken, n
}

// behind is the window of what stands behind the starting cursor, nearest first.
func (w window) behind(filter comment.Filter) window {
	return beyond(filter, *w.start, !w.descending)
}

// ahead is the window of what stands ahead of the ending cursor, nearest first.
func (w window) ahead(filter comment.Filter) window {
	return beyond(filter, *w.end, w.descending)
}

func beyond(filter comment.Filter, cursor comment.Position, descending bool) window {
	w := window{descending: descending}
	w.low, w.high = filter.Range()
	if limit := cursor.Previous(); descending && limit.Compare(w.high) < 0 {
		w.high = limit
	}
	if limit := cursor.Next(); !descending && limit.Compare(w.low) > 0 {
		w.low = limit
	}
	return w
}
