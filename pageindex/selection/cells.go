package selection

import "github.com/talkback/talkback/pageindex"

// Cell says which elements of a sorted cell belong to the list: those from the index Low, inclusive,
// to High, exclusive. Elements of a cell ascend.
type Cell struct{ Low, High int }

func (c Cell) size() int { return c.High - c.Low }

// size returns how many elements cells have together.
func size(cells []Cell) int {
	n := 0
	for _, c := range cells {
		n += c.size()
	}
	return n
}

// Probe is an element of a cell, by the index of the cell and its own index.
type Probe struct{ Cell, Index int }

// Target is what to find.
type Target struct {
	pageindex.Target
	// Within says for each cell between which indexes elements can be equal to At, if that is known:
	// those before Low are lower, those from High on higher. It is nil if it is not known.
	Within []Cell
}

// Sampler chooses what a round looks at in some ranges, the same whenever it is asked: at least one
// element of each range that is not empty.
type Sampler func(ranges []Cell) []Probe

// Bounds of how many elements a search looks at in one round. With 16 of each of 15 cells, an
// element among a million is found in 5 rounds (TestRoundsOfAMillion).
const (
	leastSamples   = 64
	samplesPerCell = 16
	mostSamples    = 1024
)

// evenly is the Sampler for elements that cost the same: everything if it is little, otherwise elements at
// equal distances, at least one of each range.
func evenly(ranges []Cell) []Probe {
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
