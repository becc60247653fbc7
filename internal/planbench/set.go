package planbench

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/comment"
)

// MeasureSet adds to a summary the pages of all products of a set, and the pages of walks through
// their lists.
func MeasureSet(ctx context.Context, products [][]comment.Comment, summary *Summary) error {
	set, atOnce := SetOf(products), runtime.GOMAXPROCS(0)
	for first := 0; first < len(products) && ctx.Err() == nil; first += atOnce {
		batch := products[first:min(first+atOnce, len(products))]
		walks := make([][][]Row, len(batch))
		var group errgroup.Group
		for i, comments := range batch {
			group.Go(func() (err error) {
				walks[i], err = measureAll(ctx, comments)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
		for _, rows := range slices.Concat(walks...) { // in the order of the products
			summary.Add(set, rows)
		}
	}
	return ctx.Err()
}

// SetOf returns the set of products with the given comments: one slice for each.
func SetOf(products [][]comment.Comment) Set {
	set := Set{Products: len(products)}
	for _, comments := range products {
		set.Comments += len(comments)
	}
	return set
}

// measureAll returns the pages of one product, for each walk.
func measureAll(ctx context.Context, comments []comment.Comment) ([][]Row, error) {
	p, err := NewProduct(comments)
	if err != nil {
		return nil, err
	}
	rows, err := p.measureAll(ctx, p.visits(PageSize), everyWay...)
	if err != nil {
		return nil, err
	}
	walk, err := p.measureAll(ctx, p.walks(PageSize), Narrowest, Cold, Planned)
	out := [][]Row{rows, walk}
	for walk := HighestRated; walk <= RareTrait && err == nil; walk++ {
		if p, err = forWalk(walk, comments); err == nil {
			rows, err = p.measureAll(ctx, p.visitsBy(walk, PageSize), Cold, Planned)
			out = append(out, rows)
		}
	}
	return out, err
}
