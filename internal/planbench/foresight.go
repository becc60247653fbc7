package planbench

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// cellPrice is what it costs to have all that a page needs of one cell, if just that is read of one partition: the cell's
// own, that of its language, that of its rating, or the whole product. A partition may be read for several cells, and then
// costs as much as the dearest of them.
type cellPrice struct {
	language                    comment.Language // empty when the filter names none
	rating                      int
	own, along, across, overall float64
}

// foresee is the least that any way to read the page can cost, in read units.
func (p *Product) foresee(v visit) float64 {
	from, to := v.window()
	var cells []cellPrice
	for _, rating := range ratingsOf(v.query.Filter) {
		for _, language := range orAny(v.query.Filter.Languages) {
			if c, holds := p.ledger.cell(language, rating, from, to); holds {
				cells = append(cells, c)
			}
		}
	}
	return cheapest(cells, v.query.Filter.Languages)
}

// orAny is the languages of a filter, or the one empty language that stands for any.
func orAny(languages []comment.Language) []comment.Language {
	if len(languages) == 0 {
		return []comment.Language{""}
	}
	return languages
}

// cell prices a cell; false when nothing is in it at all, so that nobody has to ask. If just nothing of it is on the page,
// one who must not miss anything has to ask all the same.
func (l ledger) cell(language comment.Language, rating, from, to int) (c cellPrice, holds bool) {
	own := l[layout.Partition{Index: layout.ByRating, Rating: rating}]
	c = cellPrice{language: language, rating: rating, along: math.Inf(1)}
	if language != "" {
		own = l[layout.Partition{Index: layout.ByLangAndRating, Language: language, Rating: rating}]
	}
	end, found := own.lastBetween(from, to)
	if !found {
		end = from - 1
	}
	c.own = own.price(from, end)
	c.across = l[layout.Partition{Index: layout.ByRating, Rating: rating}].price(from, end)
	c.overall = l[layout.Partition{Index: layout.All}].price(from, end)
	if language != "" {
		c.along = l[layout.Partition{Index: layout.ByLang, Language: language}].price(from, end)
	}
	return c, len(own.numbers) > 0
}

// cheapest is the least price of all covers of some cells: the whole product is read for some of them, then each language
// for some of the rest, then each rating for some of what is left, and what remains cell by cell. To read a partition for
// one cell is to have every other in it that costs no more.
func cheapest(cells []cellPrice, languages []comment.Language) float64 {
	best := math.Inf(1)
	for _, paid := range choices(cells, func(c cellPrice) float64 { return c.overall }) {
		left := beyond(cells, func(c cellPrice) bool { return c.overall <= paid })
		best = min(best, paid+cheapestAlong(left, languages))
	}
	return best
}

func cheapestAlong(cells []cellPrice, languages []comment.Language) float64 {
	if len(languages) == 0 {
		return cheapestAcross(cells)
	}
	one := beyond(cells, func(c cellPrice) bool { return c.language != languages[0] })
	best := math.Inf(1)
	for _, paid := range choices(one, func(c cellPrice) float64 { return c.along }) {
		left := beyond(cells, func(c cellPrice) bool { return c.language == languages[0] && c.along <= paid })
		best = min(best, paid+cheapestAlong(left, languages[1:]))
	}
	return best
}

func cheapestAcross(cells []cellPrice) float64 {
	total := 0.0
	for rating := 1; rating <= comment.MaxRating; rating++ {
		row := beyond(cells, func(c cellPrice) bool { return c.rating != rating })
		best := math.Inf(1)
		for _, paid := range choices(row, func(c cellPrice) float64 { return c.across }) {
			price := paid
			for _, c := range beyond(row, func(c cellPrice) bool { return c.across <= paid }) {
				price += c.own
			}
			best = min(best, price)
		}
		total += best
	}
	return total
}

// choices are what may be paid for a partition: nothing, or the price of one of its cells.
func choices(cells []cellPrice, price func(cellPrice) float64) []float64 {
	out := []float64{0}
	for _, c := range cells {
		out = append(out, price(c))
	}
	return out
}

// beyond are the cells that are not had.
func beyond(cells []cellPrice, had func(cellPrice) bool) []cellPrice {
	var out []cellPrice
	for _, c := range cells {
		if !had(c) {
			out = append(out, c)
		}
	}
	return out
}
