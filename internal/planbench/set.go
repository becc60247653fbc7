package planbench

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// MeasureSet adds the pages of all products of a set to a summary, and those of walks through their
// lists.
func MeasureSet(ctx context.Context, products [][]comment.Comment, summary *Summary) error {
	set := SetOf(products)
	for batch := range slices.Chunk(products, runtime.GOMAXPROCS(0)) {
		rows := make([][][]Row, len(batch))
		group, ctx := errgroup.WithContext(ctx)
		for i, comments := range batch {
			group.Go(func() (err error) {
				rows[i], err = measureAll(ctx, comments)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, walk := range slices.Concat(rows...) {
			summary.Add(set, walk)
		}
	}
	return nil
}

// SetOf is the set of some products, of which each has its comments.
func SetOf(products [][]comment.Comment) Set {
	set := Set{Products: len(products)}
	for _, comments := range products {
		set.Comments += len(comments)
	}
	return set
}

// measureAll returns the pages of one product, for each walk.
func measureAll(ctx context.Context, comments []comment.Comment) ([][]Row, error) {
	p, err := NewProduct(ctx, comments)
	if err != nil {
		return nil, err
	}
	rows, err := Measure(ctx, p, PageSize)
	if err != nil {
		return nil, fmt.Errorf("product %q: %w", p.id, err)
	}
	walked, err := MeasureWalk(ctx, p, PageSize, NoHints)
	if err != nil {
		return nil, fmt.Errorf("product %q, %v: %w", p.id, NoHints, err)
	}
	return [][]Row{rows, walked}, nil
}
