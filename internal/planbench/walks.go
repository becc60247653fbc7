package planbench

import "context"

// walkedPages is the number of pages of a list that a walk reads.
const walkedPages = 3

// MeasureWalk reads the first pages of every list of a product that has more than one, one after
// the other.
func MeasureWalk(ctx context.Context, p *Product, size int) ([]Row, error) {
	var rows []Row
	for _, filter := range p.filters() {
		list := p.listOf(filter)
		pages := min((len(list)-1)/size+1, walkedPages)
		for page := 1; page <= pages && pages > 1; page++ {
			row, err := p.measure(ctx, p.visit(filter, list, page, size), Narrowest, Cold, Planned)
			if err != nil {
				return nil, err
			}
			row.Walk = PageAfterPage
			rows = append(rows, row)
		}
	}
	return rows, nil
}
