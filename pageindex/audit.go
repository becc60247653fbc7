package pageindex

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// auditedAtOnce is how many comments are looked up in one call.
const auditedAtOnce = 128

// Places are the positions of a product's comments by cell, each in ascending order once sorted.
// Cells have only those traits that a filter can select by.
type Places map[comment.Cell][]comment.Position

// Add adds a comment. Comments may come in any order.
func (p Places) Add(cell comment.Cell, at comment.Position) {
	cell.Traits &= comment.IsVerified | comment.HasMedia
	p[cell] = append(p[cell], at)
}

// Drift is a difference between the index and the comments.
type Drift struct {
	// Product is the product, Detail a sentence that says what is wrong.
	Product, Detail string
}

// String describes the drift in one line.
func (d Drift) String() string { return d.Product + ": wrong page index: " + d.Detail }

// Audit compares an index with the comments of a product: the number of comments in each cell, the
// rank of each comment, and the product's counts by rating. It returns the first drift of each cell
// that differs. Its error comes from Find.
func Audit(ctx context.Context, index Index, product string, places Places) ([]Drift, error) {
	var drifts []Drift
	all := comment.Counts{}
	for _, cell := range slices.SortedFunc(maps.Keys(places), comment.Cell.Compare) {
		positions := slices.SortedFunc(slices.Values(places[cell]), comment.Position.Compare)
		all[cell.Rating-1] += len(positions)
		detail, err := compareCell(ctx, index, product, cell, positions)
		if err != nil {
			return nil, err
		}
		if detail != "" {
			drifts = append(drifts, Drift{product, detail})
		}
	}
	found, err := index.Find(ctx, List{Product: product, Order: comment.NewestFirst}, nil)
	if err != nil {
		return nil, err
	}
	if found.Counts != all {
		drifts = append(drifts, Drift{product, fmt.Sprintf("by rating, the index has %v comments instead of %v", found.Counts, all)})
	}
	return drifts, nil
}

// compareCell says what is wrong with the list of one cell, empty if nothing is.
func compareCell(ctx context.Context, index Index, product string, cell comment.Cell, positions []comment.Position) (string, error) {
	verified, withMedia := cell.Traits&comment.IsVerified != 0, cell.Traits&comment.HasMedia != 0
	list := List{
		Product: product,
		Filter: comment.Filter{
			Languages: []comment.Language{cell.Language}, Ratings: []int{cell.Rating}, Verified: &verified, WithMedia: &withMedia,
		},
		Order: comment.OldestFirst,
	}
	name := fmt.Sprintf("%s with rating %d", cell.Language, cell.Rating)
	if cell.Traits != 0 {
		name += " and traits " + cell.Traits.String()
	}
	done := 0
	for chunk := range slices.Chunk(positions, auditedAtOnce) {
		targets := make([]Target, 0, 2*len(chunk))
		for _, at := range chunk {
			before := Target{} // the beginning, if at is the lowest position
			if previous := at.Previous(); previous != at {
				before.At = &previous
			}
			targets = append(targets, before, Target{At: &at})
		}
		found, err := index.Find(ctx, list, targets)
		if err != nil {
			return "", err
		}
		if total := found.Counts.Total(); total != len(positions) {
			return fmt.Sprintf("%s: the index has %s instead of %d", name, comment.Amount(total, "comment"), len(positions)), nil
		}
		for i, at := range chunk {
			// The comment is there if, and only if, the rank rises by 1 at its position.
			if low, high := found.Boundaries[2*i].Rank, found.Boundaries[2*i+1].Rank; low != done+i || high != done+i+1 {
				return fmt.Sprintf("%s: comment %s is number %d, but the index has %d before it and %d up to it",
					name, comment.IDOf(at), done+i+1, low, high), nil
			}
		}
		done += len(chunk)
	}
	return "", nil
}
