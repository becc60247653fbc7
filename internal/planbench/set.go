package planbench

import (
	"context"
	"fmt"

	"github.com/talkback/talkback/comment"
)

// MeasureSet adds the pages of all products of a set to a summary, and those of walks through their
// lists.
func MeasureSet(ctx context.Context, products [][]comment.Comment, summary *Summary) error {
	set := SetOf(products)
	return inOrder(ctx, products, func(_ int, comments []comment.Comment) ([][]Row, error) {
		return measureAll(ctx, comments)
	}, func(walks [][]Row) {
		for _, rows := range walks {
			summary.Add(set, rows)
		}
	})
}

// SetOf is the set of products with the given comments: one slice for each.
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
	walk, err := MeasureWalk(ctx, p, PageSize)
	if err != nil {
		return nil, fmt.Errorf("product %q, walk: %w", p.id, err)
	}
	lists, err := measureLists(ctx, comments)
	return append([][]Row{rows, walk}, lists...), err
}
