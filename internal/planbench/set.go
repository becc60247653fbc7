package planbench

import (
	"context"
	"fmt"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// MeasureSet adds the pages of all products of a set to a summary, and those of walks through their
// lists. The cold way knows of a product what was learnt from the half of the others that it is not
// in, and of a lone product what every Store knows.
func MeasureSet(ctx context.Context, products [][]comment.Comment, summary *Summary) error {
	set := SetOf(products)
	priors, err := halfPriors(ctx, products)
	if err != nil {
		return err
	}
	return inOrder(ctx, products, func(i int, comments []comment.Comment) ([][]Row, error) {
		return measureAll(ctx, comments, priors[1-i%2])
	}, func(walks [][]Row) {
		for _, rows := range walks {
			summary.Add(set, rows)
		}
	})
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
func measureAll(ctx context.Context, comments []comment.Comment, prior *planner.Prior) ([][]Row, error) {
	p, err := NewProduct(ctx, comments)
	if err != nil {
		return nil, err
	}
	p.prior = prior
	rows, err := Measure(ctx, p, PageSize)
	if err != nil {
		return nil, fmt.Errorf("product %q: %w", p.id, err)
	}
	walks := [][]Row{rows}
	for _, walk := range []Walk{NoHints, Hints} {
		rows, err := MeasureWalk(ctx, p, PageSize, walk)
		if err != nil {
			return nil, fmt.Errorf("product %q, %v: %w", p.id, walk, err)
		}
		walks = append(walks, rows)
	}
	return walks, nil
}
