package selection

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// ranking counts the elements before a position. Each cell is searched for itself.
type ranking struct {
	cells []Cell
	order comment.Order
	// sample chooses what to look at.
	sample Sampler
	at     comment.Position
	// left says of each cell which elements may be before the position or not.
	left []Cell
}

func newRanking(cells []Cell, order comment.Order, target Target, sample Sampler) *ranking {
	r := &ranking{cells: cells, order: order, sample: sample, at: *target.At, left: slices.Clone(cells)}
	for i, within := range target.Within {
		c := cells[i]
		r.left[i] = Cell{min(max(c.Low, within.Low), c.High), min(max(c.Low, within.High), c.High)}
	}
	return r
}

func (r *ranking) probes() []Probe { return r.sample(r.left) }

func (r *ranking) take(read map[Probe]comment.Position) bool {
	before := size(r.left)
	for _, probe := range r.probes() {
		c := &r.left[probe.Cell]
		if r.lower(read[probe]) {
			c.Low = max(c.Low, probe.Index+1)
		} else {
			c.High = min(c.High, probe.Index)
		}
		if c.Low > c.High {
			return false
		}
	}
	return before == 0 || size(r.left) < before
}

// lower reports whether an element is before the position where elements ascend. In a list with the
// newest first, the position itself is before the boundary, so it counts as above it here.
func (r *ranking) lower(element comment.Position) bool {
	c := element.Compare(r.at)
	return c < 0 || c == 0 && !r.order.Descends()
}

func (r *ranking) boundary() pageindex.Boundary {
	rank := 0
	for i, c := range r.cells {
		if r.order.Descends() {
			rank += c.High - r.left[i].Low
		} else {
			rank += r.left[i].Low - c.Low
		}
	}
	if rank == 0 {
		return pageindex.Boundary{}
	}
	return pageindex.Boundary{Rank: rank, After: &r.at}
}
