package planbench

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// cellPrice is the price of reading the comments of one cell that a page needs, for each partition
// that has them: the cell's own, that of its language, that of its rating, or the whole product. A
// partition that is read for several cells costs as much as the most expensive of them.
type cellPrice struct {
	language                    comment.Language // empty when the filter names none
	rating                      int
	own, along, across, overall float64
}

// foresee returns the least read units with which the page can be read in any way.
func (p *Product) foresee(v visit) float64 {
	page := v.needed()
	switch v.walk {
	case HighestRated, LowestRated: // each of the page's ratings alone, or the whole list
		links := 0.0
		for rating := 1; rating <= comment.MaxRating; rating++ {
			of := slices.DeleteFunc(slices.Clone(page), func(number int) bool { return p.comments[number].Rating != rating })
			if len(of) > 0 {
				links += p.least(v.query.Filter.Languages, []int{rating}, of[0], of[len(of)-1])
			}
		}
		return min(links, p.whole(v.query.Filter.Languages))
	case MostHelpful:
		return p.foreseeVotes(v)
	case CommonTrait, RareTrait: // along the product, along its languages, or by ID, without the cost of finding the IDs
		ids := 0.0
		for _, number := range page {
			ids += units(p.table.comments[text(layout.CommentKey(p.comments[number].ID)[layout.AttrPK])].bytes)
		}
		return min(ids, p.along(v.query.Filter.Languages, page))
	}
	from, to := v.window()
	return p.least(v.query.Filter.Languages, ratingsOf(v.query.Filter), from, to)
}

// least returns the least read units for the comments of some languages, or of any, and of some
// ratings, from one number of the product's comments to another, both included.
func (p *Product) least(languages []comment.Language, ratings []int, from, to int) float64 {
	var cells []cellPrice
	for _, rating := range ratings {
		for _, language := range orAny(languages) {
			if c, holds := p.ledger.cell(language, rating, from, to); holds {
				cells = append(cells, c)
			}
		}
	}
	return cheapest(cells, languages)
}

// orAny returns the languages of a filter, or one empty language for any.
func orAny(languages []comment.Language) []comment.Language {
	if len(languages) == 0 {
		return []comment.Language{""}
	}
	return languages
}

// cell returns the price of a cell. It returns false if the cell is empty and need not be read. A
// cell with comments, but none on the page, must be read all the same, or the way might miss some.
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

// cheapest returns the least price of all covers of some cells. It tries to read the whole product
// for some of them, then each language for some of the rest, then each rating, and the remaining
// cells one by one. A partition that is read for one cell covers every other cell in it that costs
// no more.
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

// choices returns the possible payments for a partition: zero, or the price of one of its cells.
func choices(cells []cellPrice, price func(cellPrice) float64) []float64 {
	out := []float64{0}
	for _, c := range cells {
		out = append(out, price(c))
	}
	return out
}

// beyond returns the cells that are not covered.
func beyond(cells []cellPrice, had func(cellPrice) bool) []cellPrice {
	return slices.DeleteFunc(slices.Clone(cells), had)
}

// whole returns the least read units for all comments of some languages.
func (p *Product) whole(languages []comment.Language) float64 {
	return p.least(languages, ratingsOf(comment.Filter{}), 0, len(p.comments)-1)
}

// foreseeVotes returns the least read units for a page in the order of votes: the page's stretch of
// the index of votes, plus its stretch of the comments without votes, or the whole list.
func (p *Product) foreseeVotes(v visit) float64 {
	voted, page := p.listOf(comment.MostHelpful, comment.Filter{Helpful: new(true)}), v.needed()
	split := slices.IndexFunc(page, func(number int) bool { return p.comments[number].Votes.Net() <= 0 })
	if split < 0 {
		split = len(page)
	}
	links, entries := 0.0, p.table.partition(layout.Partition{Index: layout.ByHelpful}, p.id) // ascending
	if split > 0 {
		bytes := 0
		for rank := slices.Index(voted, page[0]); rank <= slices.Index(voted, page[split-1]); rank++ {
			bytes += entries[len(entries)-1-rank].bytes
		}
		links += units(bytes)
	}
	if split < len(page) {
		links += p.along(v.query.Filter.Languages, page[split:])
	}
	return min(links, p.whole(v.query.Filter.Languages))
}

// along returns the least read units for comments, newest first, read along the product or along
// its languages.
func (p *Product) along(languages []comment.Language, numbers []int) float64 {
	from, last := numbers[0], map[comment.Language]int{}
	for _, number := range numbers {
		last[p.comments[number].Language] = number
	}
	all := p.ledger[layout.Partition{Index: layout.All}].price(from, numbers[len(numbers)-1])
	if len(languages) == 0 {
		return all
	}
	sum := 0.0
	for language, end := range last {
		sum += p.ledger[layout.Partition{Index: layout.ByLang, Language: language}].price(from, end)
	}
	return min(sum, all)
}
