package planbench

import (
	"context"

	"github.com/talkback/talkback/comment"
)

// walkedPages is how many pages of a list a walk reads.
const walkedPages = 3

// MeasureWalk reads the first pages of every list of a product that has more than one, one after the
// other.
func MeasureWalk(ctx context.Context, p *Product, size int) ([]Row, error) {
	var rows []Row
	for _, filter := range p.filters() {
		for _, v := range p.walkOf(filter, size) {
			row, err := p.measure(ctx, v, Narrowest, Cold, Planned)
			if err != nil {
				return nil, err
			}
			row.Walk = PageAfterPage
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// walkOf returns the pages of a walk through a list, none if the list has only one.
func (p *Product) walkOf(filter comment.Filter, size int) []visit {
	list := p.listOf(filter)
	pages := min((len(list)-1)/size+1, walkedPages)
	if pages < 2 {
		return nil
	}
	var out []visit
	for page := 1; page <= pages; page++ {
		out = append(out, p.visit(filter, list, page, size))
	}
	return out
}
