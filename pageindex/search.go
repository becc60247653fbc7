package pageindex

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Range is a range of indexes of a sorted cell, whose elements ascend: from Low, inclusive, to
// High, exclusive.
type Range struct{ Low, High int }

func (c Range) size() int { return c.High - c.Low }

// size returns how many elements cells have together.
func size(cells []Range) int {
	n := 0
	for _, c := range cells {
		n += c.size()
	}
	return n
}

// Probe is an element of a cell, by the index of the cell and its own index.
type Probe struct{ Cell, Index int }

// CellTarget is a Target, with what is known about the cells of the list.
type CellTarget struct {
	Target
	// Within is, for each cell, the range of indexes whose elements can equal At. Elements before
	// Low are lower, those from High on higher. It is nil if unknown.
	Within []Range
}

// Sampler chooses which elements to read in some ranges in one wave: at least one of each range
// that is not empty. It is deterministic.
type Sampler func(ranges []Range) []Probe

// Bounds of how many elements a search reads in one wave. With 16 in each of 15 cells, an element
// among a million is found in 5 waves (TestRoundsOfAMillion).
const (
	leastSamples   = 64
	samplesPerCell = 16
	mostSamples    = 1024
)

// Evenly is the Sampler for elements that all cost the same to read. It returns all of a few
// elements, otherwise elements at equal distances, at least one of each range.
func Evenly(ranges []Range) []Probe {
	all := size(ranges)
	budget := min(max(leastSamples, samplesPerCell*len(ranges)), mostSamples)
	var probes []Probe
	for i, c := range ranges {
		n := c.size()
		if all > budget && n > 0 {
			n = max(1, n*budget/all)
		}
		for j := range n {
			probes = append(probes, Probe{Cell: i, Index: c.Low + (2*j+1)*c.size()/(2*n)})
		}
	}
	return probes
}

// CellRange is a range of elements of a cell, by the index of the cell.
type CellRange struct {
	Cell int
	Range
}

// ReadRanges returns the positions of all elements in some ranges, in their order. The ranges
// ascend, and no two are adjacent.
type ReadRanges func(ctx context.Context, ranges []CellRange) ([]comment.Position, error)

// ErrMoved means that the elements contradict each other: the cells changed between two waves.
var ErrMoved = errors.New("the cells changed while they were read")

// search is the search for one target. Each wave narrows it.
type search interface {
	// probes returns the elements to read next, none if the target is found.
	probes() []Probe
	// take narrows the search by the elements read. It returns false if they contradict each other.
	take(read map[Probe]comment.Position) bool
	// boundary returns the place of the target once it is found.
	boundary() Boundary
}

// Search returns the boundaries of targets in a list that is the union of several sorted cells, all
// with exact ranks. Each call of read takes a few elements of each cell, chosen by sample: one
// pipelined call can fetch them all.
func Search(ctx context.Context, cells []Range, order comment.Order, targets []CellTarget, sample Sampler, read ReadRanges) ([]Boundary, error) {
	searches := make([]search, len(targets))
	for i, target := range targets {
		if target.At != nil {
			searches[i] = newRanking(cells, order, target, sample)
		} else {
			searches[i] = newPicking(cells, order, target.Rank, sample)
		}
	}
	known := map[Probe]comment.Position{}
	for probes, ends := next(searches, known); !ends; probes, ends = next(searches, known) {
		if len(probes) > 0 {
			var ranges []CellRange
			for _, p := range probes {
				if last := len(ranges) - 1; last >= 0 && ranges[last].Cell == p.Cell && ranges[last].High == p.Index {
					ranges[last].High++
					continue
				}
				ranges = append(ranges, CellRange{p.Cell, Range{p.Index, p.Index + 1}})
			}
			positions, err := read(ctx, ranges)
			if err != nil {
				return nil, err
			}
			for i, probe := range probes {
				known[probe] = positions[i]
			}
		}
		for _, s := range searches {
			if !s.take(known) {
				return nil, ErrMoved
			}
		}
	}
	boundaries := make([]Boundary, len(searches))
	for i, s := range searches {
		boundaries[i] = s.boundary()
	}
	return boundaries, nil
}

// next returns the elements that searches need and that were not read yet, sorted, and whether all
// searches have ended.
func next(searches []search, known map[Probe]comment.Position) (probes []Probe, ends bool) {
	ends = true
	for _, s := range searches {
		for _, probe := range s.probes() {
			ends = false
			if _, read := known[probe]; !read {
				probes = append(probes, probe)
			}
		}
	}
	slices.SortFunc(probes, func(a, b Probe) int { return cmp.Or(a.Cell-b.Cell, a.Index-b.Index) })
	return slices.Compact(probes), ends
}

// picking finds the element with a rank. It keeps the range of candidates in each cell.
//
// For an element that was read, the number of elements below it is known in its own cell. In each
// other cell it lies between the indexes of two elements read. So its rank lies between two sums.
// If even the upper one is too low, the element and all below it are too low, and likewise above.
// With two or more cells, each wave removes candidates, even if it reads one element of each cell.
type picking struct {
	sample Sampler
	rank   int // of the boundary in the list
	// candidates are the elements that may have the rank.
	candidates []Range
	// below is how many of the candidates are below the element to find.
	below int
	found *comment.Position
}

func newPicking(cells []Range, order comment.Order, rank int, sample Sampler) *picking {
	total := size(cells)
	p := &picking{sample: sample, rank: min(rank, total), candidates: slices.Clone(cells)}
	p.below = p.rank - 1
	if order.Descends() {
		p.below = total - p.rank
	}
	p.cutEnds()
	return p
}

// cutEnds removes elements that cannot have the rank because too many of their own cell come before
// or behind them.
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
	var elements []element // the candidates that were read, ascending
	for _, probe := range p.probes() {
		e := element{probe, read[probe]}
		if last := len(elements) - 1; last >= 0 && elements[last].Cell == e.Cell && elements[last].position.Compare(e.position) >= 0 {
			return false
		}
		elements = append(elements, e)
	}
	slices.SortFunc(elements, func(a, b element) int {
		return cmp.Or(a.position.Compare(b.position), cmp.Compare(a.Cell, b.Cell))
	})
	least, most := p.ranks(elements)
	before, candidates := size(p.candidates), slices.Clone(p.candidates)
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
	p.cutEnds()
	after := size(p.candidates)
	return p.found != nil || after < before && after > 0 && p.below >= 0 && p.below < after
}

// ranks returns for each element the least and the greatest possible number of candidates below it.
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

func (p *picking) boundary() Boundary {
	return Boundary{Rank: p.rank, After: p.found}
}

// ranking counts the elements before a position. It searches each cell separately.
type ranking struct {
	cells []Range
	order comment.Order

	sample Sampler
	at     comment.Position
	// left is, for each cell, the elements that may lie on either side of the position.
	left []Range
}

func newRanking(cells []Range, order comment.Order, target CellTarget, sample Sampler) *ranking {
	r := &ranking{cells: cells, order: order, sample: sample, at: *target.At, left: slices.Clone(cells)}
	for i, within := range target.Within {
		c := cells[i]
		r.left[i] = Range{min(max(c.Low, within.Low), c.High), min(max(c.Low, within.High), c.High)}
	}
	return r
}

func (r *ranking) probes() []Probe { return r.sample(r.left) }

func (r *ranking) take(read map[Probe]comment.Position) bool {
	before := size(r.left)
	for _, probe := range r.probes() {
		c := &r.left[probe.Cell]
		// In a list with the newest first, the position itself is before the boundary, and so above it
		// here, where elements ascend.
		if at := read[probe].Compare(r.at); at < 0 || at == 0 && !r.order.Descends() {
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

func (r *ranking) boundary() Boundary {
	rank := 0
	for i, c := range r.cells {
		if r.order.Descends() {
			rank += c.High - r.left[i].Low
		} else {
			rank += r.left[i].Low - c.Low
		}
	}
	if rank == 0 {
		return Boundary{}
	}
	return Boundary{Rank: rank, After: &r.at}
}
