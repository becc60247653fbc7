package planner

import (
	"github.com/talkback/talkback/comment"
)

// Most pages are asked for again and again, the first one of a product above all. What a page held when it was last read
// tells more of what it will hold than any counts do. Believing that wrongly costs reads, never comments.

// LastPage is what a page held when it was last read. It is not changed once it is made.
type LastPage struct {
	// cells are how many comments of each cell were taken, the last of which was of the cell last.
	cells []cellCount
	last  comment.Cell
	// full is whether that were as many as were wanted.
	full bool
	// looks are what the reads with a residual filter found.
	looks []look
	// moved is how many comments are expected to have come in front of the page since.
	moved float64
}

// cellCount is how many comments are of one cell.
type cellCount struct {
	cell  comment.Cell
	count int
}

// look is how many items were looked at for a part, and how many of them kept.
type look struct {
	part         Part
	looked, kept int
}

// NewLastPage is what a page held of which these comments were taken, at least one, and whether as many as were wanted.
func NewLastPage(taken []comment.Comment, full bool) *LastPage {
	e := &LastPage{last: taken[len(taken)-1].Cell(), full: full}
	for _, c := range taken {
		e.count(c.Cell())
	}
	return e
}

// NoteScan notes what a read of a part found: how many items were looked at and how many of them kept.
func (e *LastPage) NoteScan(part Part, looked, kept int) {
	if part.residual() {
		e.looks = append(e.looks, look{part, looked, kept})
	}
}

// Shifted is the same page, in front of which so many comments are expected to have come since.
func (e LastPage) Shifted(came float64) *LastPage {
	e.moved = came
	return &e
}

func (e *LastPage) count(cell comment.Cell) {
	for i := range e.cells {
		if e.cells[i].cell == cell {
			e.cells[i].count++
			return
		}
	}
	e.cells = append(e.cells, cellCount{cell, 1})
}

// tells is whether most of a page of so many comments is still what it was.
func (e *LastPage) tells(want int) bool { return e != nil && 2*e.moved < float64(want) }

// of is how many comments of a part were on the page.
func (e *LastPage) of(part Part) int {
	n := 0
	for _, c := range e.cells {
		if part.Holds(c.cell) {
			n += c.count
		}
	}
	return n
}

// within is how many comments of a part have to be seen, of which such a share of the list is: mean and variance. Each
// comment that came in front pushed one out at the end, and each of these is one of the part or not.
func (e *LastPage) within(part Part, share float64) (mean, variance float64) {
	n := e.of(part)
	switch {
	case e.full && share < 1 && part.Holds(e.last):
		n-- // nothing has to be known beyond the last one
	case !e.full && share == 1:
		n++ // nothing came after the last one, which is to be seen
	}
	return float64(n), 2 * e.moved * share * (1 - share)
}

// between is how many items that are not wanted stand between those of a part that are, by what was found when the same was
// read: mean and variance, false if it was not. If what was kept lay evenly in what was looked at, the place of the
// n-th is a negative hypergeometric number: https://en.wikipedia.org/wiki/Negative_hypergeometric_distribution
// A page that another part ends, ends for this one somewhere between two of its own.
func (e *LastPage) between(part Part) (mean, variance float64, known bool) {
	n := float64(e.of(part))
	if !part.Holds(e.last) {
		n += 0.5
	}
	for _, l := range e.looks {
		kept, dropped := float64(l.kept), float64(l.looked-l.kept)
		if !l.part.equal(part) || n > kept+0.5 {
			continue
		}
		mean = n * dropped / (kept + 1)
		variance = mean * (kept + dropped + 1) * (kept + 1 - n) / ((kept + 1) * (kept + 2))
		each := dropped / (kept + 1)
		return mean, variance + 2*e.moved*each*(1+each), true
	}
	return 0, 0, false
}
