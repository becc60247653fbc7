package planbench

import (
	"context"
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Row is a page and its cost in each way.
type Row struct {
	// Comments is how many comments the product has.
	Comments int
	// Filter is the filter of the list.
	Filter comment.Filter
	// Page is the number of the page, Reach that of the list's last page.
	Page, Reach int
	// Shown is how many comments the page shows.
	Shown int
	// Costs are the costs by Way.
	Costs [ways]Cost
}

// Measure reads pages of every list of a product in every way, with so many comments each. A way
// that shows wrong comments is an error, as is one that costs less than foresight.
func Measure(ctx context.Context, p *Product, size int) ([]Row, error) {
	var rows []Row
	for _, v := range p.visits(size) {
		row, err := p.measure(ctx, v)
		if err != nil {
			return nil, fmt.Errorf("page %d of ratings %v, languages %v: %w", v.page, v.query.Filter.Ratings, v.query.Filter.Languages, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (p *Product) measure(ctx context.Context, v visit) (Row, error) {
	ids := v.ids(p)
	row := Row{Comments: len(p.comments), Filter: v.query.Filter, Page: v.page, Reach: (len(v.list)-1)/v.query.Slice.Size + 1, Shown: len(ids)}
	least := p.foresee(v)
	row.Costs[Foresight] = Cost{Units: least, Waves: 1}
	for way := range Foresight {
		shown, cost, err := p.read(ctx, way, v.query)
		switch {
		case err != nil:
			return row, fmt.Errorf("%v: %w", way, err)
		case !slices.Equal(shown, ids):
			return row, fmt.Errorf("%v shows %v, want %v", way, shown, ids)
		case cost.Units < least:
			return row, fmt.Errorf("%v costs %.1f read units, and foresight %.1f: one of them is wrong", way, cost.Units, least)
		}
		row.Costs[way] = cost
	}
	return row, nil
}
