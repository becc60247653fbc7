package planbench

import (
	"context"
	"fmt"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Row is a page and its cost in each way.
type Row struct {
	// Comments is the number of the product's comments.
	Comments int
	// Walk is the way to the page.
	Walk Walk
	// Filter is the filter of the list.
	Filter comment.Filter
	// Page is the number of the page, Reach that of the list's last page.
	Page, Reach int
	// Shown is the number of comments on the page.
	Shown int
	// Costs are the costs by Way, zero for a way that was not measured.
	Costs [ways]Cost
}

// measureAll reads pages in some ways. It returns an error if a way shows wrong comments, or costs
// less than foresight.
func (p *Product) measureAll(ctx context.Context, visits []visit, ways ...Way) ([]Row, error) {
	rows := make([]Row, len(visits))
	for i, v := range visits {
		var err error
		if rows[i], err = p.measure(ctx, v, ways...); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// measure reads a page in some ways.
func (p *Product) measure(ctx context.Context, v visit, ways ...Way) (Row, error) {
	least := p.foresee(v)
	ids := v.ids(p)
	row := Row{Comments: len(p.comments), Walk: v.walk, Filter: v.query.Filter, Page: v.page, Reach: (len(v.list)-1)/v.query.Slice.Size + 1, Shown: len(ids)}
	row.Costs[Foresight] = Cost{Units: least, Waves: 1}
	for _, way := range ways {
		shown, cost, err := p.read(ctx, way, v.query)
		switch {
		case err != nil:
		case !slices.Equal(shown, ids):
			err = fmt.Errorf("it shows %v, want %v", shown, ids)
		case cost.Units < least:
			err = fmt.Errorf("it costs %.1f read units, and foresight %.1f: one of them is wrong", cost.Units, least)
		}
		if err != nil {
			return row, fmt.Errorf("product %q, %v, page %d of ratings %v, languages %v, %v: %w", p.id, v.walk, v.page, v.query.Filter.Ratings, v.query.Filter.Languages, way, err)
		}
		row.Costs[way] = cost
	}
	return row, nil
}
