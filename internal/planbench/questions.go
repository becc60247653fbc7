package planbench

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

// PageSize is the number of comments on a page.
const PageSize = 20

// numberedPages are the pages to read of every list that has them, besides its last page.
var numberedPages = []int{1, 2, 10, 100, 1000}

// Walk is the way to a page, and the kind of its list, unless that is newest first.
type Walk int

// The walks.
const (
	// EachPage asks for pages one by one, each by its cursor.
	EachPage Walk = iota
	// PageAfterPage walks from page to page. A newly started process answers each page.
	PageAfterPage
	// HighestRated, LowestRated and MostHelpful ask for pages one by one, of lists in these orders.
	// In MostHelpful, a few percent of the comments have votes.
	HighestRated
	LowestRated
	MostHelpful
	// CommonTrait and RareTrait ask for pages of verified purchases where these are many or few.
	CommonTrait
	RareTrait
)

// String returns the name of the walk in tables.
func (w Walk) String() string {
	return [...]string{"each page", "walk without hints", "highest rated", "lowest rated", "most helpful", "verified: common", "verified: rare"}[w] // the name from when processes could start with hints
}

// order returns the order of the lists that a walk goes through.
func (w Walk) order() comment.Order {
	switch w {
	case HighestRated:
		return comment.HighestRated
	case LowestRated:
		return comment.LowestRated
	case MostHelpful:
		return comment.MostHelpful
	}
	return comment.NewestFirst
}

// visit is a page to read.
type visit struct {
	walk  Walk
	query comment.Query
	// page is the page's number, from 1.
	page int
	// first is the number of the page's first comment in the list. list is the whole list as
	// numbers of the product's comments, in its order.
	first int
	list  []int
}

// ids returns the comments that the page must show.
func (v visit) ids(p *Product) []comment.ID {
	var out []comment.ID
	for _, number := range v.list[v.first:min(v.first+v.query.Slice.Size, len(v.list))] {
		out = append(out, p.comments[number].ID)
	}
	return out
}

// visits returns the pages to read of all lists of a product.
func (p *Product) visits(size int) []visit {
	var out []visit
	for _, filter := range p.filters() {
		out = append(out, p.visitsOf(EachPage, filter, size)...)
	}
	return out
}

// walkedPages is the number of pages of a list that a walk reads.
const walkedPages = 3

// walks returns the first pages of every list of a product that has more than one.
func (p *Product) walks(size int) []visit {
	var out []visit
	for _, filter := range p.filters() {
		list := p.listOf(comment.NewestFirst, filter)
		pages := min((len(list)-1)/size+1, walkedPages)
		for page := 1; page <= pages && pages > 1; page++ {
			out = append(out, p.visit(PageAfterPage, filter, list, page, size))
		}
	}
	return out
}

// filters returns the filters of all lists: every set of ratings, without and with languages.
func (p *Product) filters() []comment.Filter {
	var out []comment.Filter
	for _, languages := range p.languageSets() {
		for set := 1; set < 1<<comment.MaxRating; set++ {
			out = append(out, comment.Filter{Languages: languages, Ratings: ratingSet(set)})
		}
	}
	return out
}

// ratingSet returns the ratings for the set bits of a number. All five are nil, as in a normalized
// filter.
func ratingSet(set int) []int {
	var ratings []int
	for rating := 1; rating <= comment.MaxRating; rating++ {
		if set&(1<<(rating-1)) != 0 {
			ratings = append(ratings, rating)
		}
	}
	if len(ratings) == comment.MaxRating {
		return nil
	}
	return ratings
}

// languageSets returns no language, the most frequent one, a less frequent one, the two most
// frequent, and three less frequent ones, as far as the product has them.
func (p *Product) languageSets() [][]comment.Language {
	var byCount []comment.Language
	for _, l := range p.stats.Languages(comment.Filter{}) {
		byCount = append(byCount, l.Language)
	}
	sets := [][]comment.Language{nil}
	for _, bounds := range [][2]int{{0, 1}, {2, 3}, {0, 2}, {1, 4}} {
		if bounds[1] <= len(byCount) {
			set := slices.Clone(byCount[bounds[0]:bounds[1]])
			slices.Sort(set)
			sets = append(sets, set)
		}
	}
	return sets
}

// listOf returns a list as numbers of the product's comments.
func (p *Product) listOf(order comment.Order, filter comment.Filter) []int {
	var list []int
	for number, c := range p.comments { // newest first
		if filter.Allows(c) {
			list = append(list, number)
		}
	}
	if order != comment.NewestFirst {
		slices.SortFunc(list, func(a, b int) int { return order.Compare(order.PlaceOf(p.comments[a]), order.PlaceOf(p.comments[b])) })
	}
	return list
}

// visitsOf returns the pages of a list with a filter, none if it is empty.
func (p *Product) visitsOf(walk Walk, filter comment.Filter, size int) []visit {
	list := p.listOf(walk.order(), filter)
	if len(list) == 0 {
		return nil
	}
	last := (len(list)-1)/size + 1
	var out []visit
	for _, page := range append(numberedPages[:len(numberedPages):len(numberedPages)], last) {
		if page > last || len(out) > 0 && out[len(out)-1].page >= page {
			continue
		}
		out = append(out, p.visit(walk, filter, list, page, size))
	}
	return out
}

func (p *Product) visit(walk Walk, filter comment.Filter, list []int, page, size int) visit {
	v := visit{walk: walk, page: page, first: (page - 1) * size, list: list}
	v.query = comment.Query{Product: p.id, Filter: filter, Order: walk.order(), Slice: comment.Slice{Size: size}}
	if page > 1 {
		v.query.Slice.After = new(v.query.Order.PlaceOf(p.comments[list[v.first-1]]))
	}
	return v
}

// window returns the first and the last comment that a page needs.
func (v visit) window() (from, to int) {
	needed := v.needed()
	return needed[0], needed[len(needed)-1]
}

// needed returns the comments that a page needs: its own, one more, and that at the cursor.
func (v visit) needed() []int {
	first := v.first
	if v.query.Slice.After != nil {
		first-- // the comment at the cursor proves that a page precedes it
	}
	return v.list[first:min(first+wanted(v.query), len(v.list))]
}

// ratingsOf returns the ratings that a filter allows.
func ratingsOf(filter comment.Filter) []int {
	if len(filter.Ratings) == 0 {
		return []int{1, 2, 3, 4, 5}
	}
	return filter.Ratings
}

// wanted returns the number of comments that a page needs to show itself and to tell whether it has
// neighbours: one after it, and the one at its cursor.
func wanted(q comment.Query) int {
	if q.Slice.After == nil {
		return q.Slice.Size + 1
	}
	return q.Slice.Size + 2
}
