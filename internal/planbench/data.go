package planbench

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Product is a product with its comments, their statistics and their table.
type Product struct {
	id       string
	comments []comment.Comment // newest first
	stats    comment.Stats
	sizes    planner.Sizes
	table    *Table
	ledger   ledger
}

// NewProduct returns a product with comments, in any order and at different positions.
func NewProduct(comments []comment.Comment) (*Product, error) {
	if len(comments) == 0 {
		return nil, errors.New("a product without comments has no pages to measure")
	}
	table := NewTable(comments)
	p := &Product{id: comments[0].ProductID, comments: slices.Clone(comments), stats: comment.Stats{}, table: table}
	slices.SortFunc(p.comments, func(a, b comment.Comment) int { return b.ID.Position().Compare(a.ID.Position()) })
	for _, c := range p.comments {
		p.stats.Add(c.Cell(), 1)
	}
	p.sizes.Any = sizeOf(table.partition(layout.Partition{Index: layout.All}, p.id))
	for i := range p.sizes.ByRating {
		if entries := table.partition(layout.Partition{Index: layout.ByRating, Rating: i + 1}, p.id); len(entries) > 0 {
			p.sizes.ByRating[i] = sizeOf(entries)
		}
	}
	p.ledger = newLedger(table, p.id, p.comments, p.stats)
	return p, nil
}

// sizeOf returns the mean size of items, at least one, and its standard deviation.
func sizeOf(entries []entry) planner.ItemSize {
	sum, squares, n := 0.0, 0.0, float64(len(entries))
	for _, e := range entries {
		sum += float64(e.bytes)
		squares += float64(e.bytes) * float64(e.bytes)
	}
	mean := sum / n
	return planner.ItemSize{Mean: mean, Deviation: math.Sqrt(max(0, squares/n-mean*mean))}
}

// ReadFile reads the comments of a file by product, the product with most comments first. Like
// import it leaves out rows that cannot be imported and repeated IDs. It also leaves out products
// with fewer comments than least.
func ReadFile(name string, options reviewfile.Options, least int) ([][]comment.Comment, error) {
	source, err := reviewfile.Open(name, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = source.Close() }() // the file was only read
	reader, err := reviewfile.NewReader(source, options)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	byProduct := map[string][]comment.Comment{}
	seen := map[comment.ID]bool{}
	for {
		row, err := reader.Next()
		if err == io.EOF {
			break
		}
		var bad *reviewfile.RowError
		if errors.As(err, &bad) || err == nil && seen[row.Comment.ID] {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		seen[row.Comment.ID] = true
		byProduct[row.Comment.ProductID] = append(byProduct[row.Comment.ProductID], row.Comment)
	}
	maps.DeleteFunc(byProduct, func(_ string, comments []comment.Comment) bool { return len(comments) < least })
	return slices.SortedFunc(maps.Values(byProduct), func(a, b []comment.Comment) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a[0].ProductID, b[0].ProductID))
	}), nil
}
