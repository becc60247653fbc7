// Package selection finds places by their rank in a list that is the union of several sorted cells.
// It looks at a few elements of each cell, in rounds: all that a round looks at can be fetched with
// one pipelined call.
package selection

import (
	"context"
	"errors"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
)

// Read returns the positions of elements, in the order of the probes.
type Read func(ctx context.Context, probes []Probe) ([]comment.Position, error)

// ErrMoved says that what was read contradicts itself: the cells changed between two rounds.
var ErrMoved = errors.New("the cells changed while they were read")

// search is one target being found. It is a value that a round makes smaller.
type search interface {
	// probes returns what to look at next, nothing if the target is found.
	probes() []Probe
	// take narrows the search by what was read. It returns false if that contradicts itself.
	take(read map[Probe]comment.Position) bool
	// boundary returns the place of the target once it is found.
	boundary() pageindex.Boundary
}

// Find returns the boundaries of targets in the list that cells make up, all with their exact ranks,
// and how many rounds it took.
func Find(ctx context.Context, cells []Cell, order comment.Order, targets []Target, read Read) ([]pageindex.Boundary, int, error) {
	return FindBy(ctx, cells, order, targets, evenly, read)
}

// FindBy is Find where some elements cost less than others: sample prefers these.
func FindBy(ctx context.Context, cells []Cell, order comment.Order, targets []Target, sample Sampler, read Read) ([]pageindex.Boundary, int, error) {
	searches := make([]search, len(targets))
	for i, target := range targets {
		searches[i] = newSearch(cells, order, target, sample)
	}
	rounds, known := 0, map[Probe]comment.Position{}
	for ; ; rounds++ {
		probes, ends := next(searches, known)
		if ends {
			break
		}
		if len(probes) > 0 {
			positions, err := read(ctx, probes)
			if err != nil {
				return nil, rounds, err
			}
			for i, probe := range probes {
				known[probe] = positions[i]
			}
		}
		for _, s := range searches {
			if !s.take(known) {
				return nil, rounds, ErrMoved
			}
		}
	}
	boundaries := make([]pageindex.Boundary, len(searches))
	for i, s := range searches {
		boundaries[i] = s.boundary()
	}
	return boundaries, rounds, nil
}

func newSearch(cells []Cell, order comment.Order, target Target, sample Sampler) search {
	if target.At != nil {
		return newRanking(cells, order, target, sample)
	}
	return newPicking(cells, order, target.Rank, sample)
}

// next returns what searches want to look at and is not known yet, and whether all have ended.
func next(searches []search, known map[Probe]comment.Position) (probes []Probe, ends bool) {
	ends = true
	wanted := map[Probe]bool{}
	for _, s := range searches {
		for _, probe := range s.probes() {
			ends = false
			if _, read := known[probe]; !read && !wanted[probe] {
				wanted[probe] = true
				probes = append(probes, probe)
			}
		}
	}
	return probes, ends
}
