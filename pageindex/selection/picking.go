package selection

import (
	"cmp"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// picking finds the element with a rank. It keeps, of each cell, the elements that can be it.
//
// Of an element that was read, the elements below it are known in its own cell, and in each other
// cell they are between those of the two neighbours that were read. So its rank is between two sums.
// If even the upper one is too low, it and all that were read below it are too low, and likewise
// above. Of two cells or more, each round removes something, even if it reads one element of each.
type picking struct {
	order  comment.Order
	sample Sampler
	rank   int // of the boundary in the list
	// candidates are what can be the element.
	candidates []Cell
	// below is how many of the candidates are below the element.
	below int
	found *comment.Position
}

func newPicking(cells []Cell, order comment.Order, rank int, sample Sampler) *picking {
	total := size(cells)
	p := &picking{order: order, sample: sample, rank: min(rank, total), candidates: slices.Clone(cells)}
	p.below = p.rank - 1
	if order.Descends() {
		p.below = total - p.rank
	}
	p.cutEnds()
	return p
}

// cutEnds removes elements that cannot be the one by their index alone: those with too many before
// or behind them in their own cell.
func (p *picking) cutEnds() {
	for i := range p.candidates {
		c := &p.candidates[i]
		c.High = min(c.High, c.Low+p.below+1)
	}
	above := size(p.candidates) - 1 - p.below
	for i := range p.candidates {
		c := &p.candidates[i]
		low := max(c.Low, c.High-above-1)
		p.below -= low - c.Low
		c.Low = low
	}
}

func (p *picking) probes() []Probe {
	if p.rank == 0 || p.found != nil {
		return nil
	}
	return p.sample(p.candidates)
}

// element is one that was read.
type element struct {
	Probe
	position comment.Position
}

func (p *picking) take(read map[Probe]comment.Position) bool {
	if p.rank == 0 || p.found != nil {
		return true
	}
	elements, sorted := p.elements(read)
	if !sorted {
		return false
	}
	before := size(p.candidates)
	p.narrow(elements)
	p.cutEnds()
	after := size(p.candidates)
	return p.found != nil || after < before && after > 0 && p.below >= 0 && p.below < after
}

// elements returns what was read of the candidates, ascending. sorted is false if a cell is not.
func (p *picking) elements(read map[Probe]comment.Position) (elements []element, sorted bool) {
	for _, probe := range p.probes() {
		e := element{probe, read[probe]}
		if last := len(elements) - 1; last >= 0 && elements[last].Cell == e.Cell && elements[last].position.Compare(e.position) >= 0 {
			return nil, false
		}
		elements = append(elements, e)
	}
	slices.SortFunc(elements, func(a, b element) int {
		return cmp.Or(a.position.Compare(b.position), cmp.Compare(a.Cell, b.Cell))
	})
	return elements, true
}

// narrow removes what is known to be below the element, or above it.
func (p *picking) narrow(elements []element) {
	least, most := p.ranks(elements)
	candidates := slices.Clone(p.candidates)
	for i, e := range elements {
		c := &candidates[e.Cell]
		switch {
		case least[i] == p.below && most[i] == p.below:
			p.found = &e.position
		case most[i] < p.below:
			c.Low = e.Index + 1
		case least[i] > p.below:
			c.High = min(c.High, e.Index)
		}
	}
	for i := range candidates {
		p.below -= candidates[i].Low - p.candidates[i].Low
	}
	p.candidates = candidates
}

// ranks returns for each element how many candidates are below it, at least and at most.
func (p *picking) ranks(elements []element) (least, most []int) {
	least, most = make([]int, len(elements)), make([]int, len(elements))
	passed := make([]int, len(p.candidates)) // of each cell, behind the last element
	sum := 0
	for i, e := range elements {
		index := e.Index - p.candidates[e.Cell].Low
		least[i] = sum - passed[e.Cell] + index
		sum += index + 1 - passed[e.Cell]
		passed[e.Cell] = index + 1
	}
	ahead := make([]int, len(p.candidates)) // of each cell, before the next element
	sum = 0
	for i, c := range p.candidates {
		ahead[i] = c.size()
		sum += ahead[i]
	}
	for i, e := range slices.Backward(elements) {
		index := e.Index - p.candidates[e.Cell].Low
		sum += index - ahead[e.Cell]
		ahead[e.Cell] = index
		most[i] = sum
	}
	return least, most
}

func (p *picking) boundary() pageindex.Boundary {
	return pageindex.Boundary{Rank: p.rank, After: p.found}
}
