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

// Measure reads pages of every list of a product in every way, with size comments each. It returns
// an error if a way shows wrong comments, or costs less than foresight.
func Measure(ctx context.Context, p *Product, size int) ([]Row, error) {
	var rows []Row
	for _, v := range p.visits(size) {
		row, err := p.measure(ctx, v, FullPages, OneIndex, Narrowest, Cold, Planned, Again)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// measure reads a page in some ways.
func (p *Product) measure(ctx context.Context, v visit, ways ...Way) (Row, error) {
	return p.measureOver(ctx, v, p.foresee(v), ways...)
}

// measureOver reads a page in some ways. least is the fewest read units that any way can take.
func (p *Product) measureOver(ctx context.Context, v visit, least float64, ways ...Way) (Row, error) {
	ids := v.ids(p)
	row := Row{Comments: len(p.comments), Filter: v.query.Filter, Page: v.page, Reach: (len(v.list)-1)/v.query.Slice.Size + 1, Shown: len(ids)}
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
			return row, fmt.Errorf("page %d of ratings %v, languages %v, %v: %w", v.page, v.query.Filter.Ratings, v.query.Filter.Languages, way, err)
		}
		row.Costs[way] = cost
	}
	return row, nil
}
