package planbench

import (
	"cmp"
	"math"
	"slices"
)

// The number of languages in a list's filter, as averages distinguish it.
const (
	noLanguage       = "none"
	oneLanguage      = "one"
	severalLanguages = "several"
	// any number of languages
	anyLanguages = "any"
)

// languagesOf returns the number of languages in the filter of the row's list, as a name.
func (r Row) languagesOf() string {
	switch len(r.Filter.Languages) {
	case 0:
		return noLanguage
	case 1:
		return oneLanguage
	}
	return severalLanguages
}

// Set is a set of products that averages are taken over.
type Set struct {
	// Products and Comments are the numbers of both.
	Products, Comments int
}

// Weight is the weight of a product in averages.
type Weight string

// The weights.
const (
	// Equal weighs all products equally, as if clients asked for each equally often.
	Equal Weight = "equal"
	// ByComments weighs a product by its number of comments, as clients ask more often for a
	// product with more of them.
	ByComments Weight = "comments"
)

// Group is a group of pages that averages are taken over.
type Group struct {
	Set
	// Weight is the weight of each product.
	Weight Weight
	// Walk is the way to the pages.
	Walk Walk
	// Most is the largest number of comments that its products may have. Each has more than the
	// next smaller bound of sizeClasses. 0 is any number.
	Most int
	// Languages is "none", "one", "several" or "any".
	Languages string
	// Ratings is the number of chosen ratings, 0 for any number.
	Ratings int
	// Page is the number of the page, 0 for any.
	Page int
}

// sizeClasses are the largest numbers of comments of the products of each class.
var sizeClasses = []int{10, 100, 1000, math.MaxInt}

// sizeClass returns the class of a product by its number of comments.
func sizeClass(comments int) int {
	i, _ := slices.BinarySearch(sizeClasses, comments)
	return sizeClasses[i]
}

// Average is the mean cost of the pages of a group in one way.
type Average struct {
	Group
	// Way is the way of reading.
	Way Way
	// Pages is the number of pages.
	Pages int
	// ItemsPerShown is the number of scanned comments for each one shown.
	ItemsPerShown float64
	// UnitsPerPage and QueriesPerPage are means.
	UnitsPerPage, QueriesPerPage float64
	// OneWave is the share of pages that took one wave, MostWaves the number of waves of the
	// slowest page.
	OneWave   float64
	MostWaves int
	// OverForesight is the ratio of the group's units to those of foresight.
	OverForesight float64
}

// Summary takes averages of pages, product by product: by the number of ratings and languages, by
// the number of ratings alone, of all, by page, and by the number of a product's comments. The
// pages of a product in a group weigh together as much as the product. The zero value is empty.
type Summary struct{ sums map[Group]*[ways]sum }

// sum is the weighted sum of pages in one way.
type sum struct {
	pages, mostWaves                                     int
	weight, items, shown, units, least, queries, oneWave float64
}

// Add adds pages of one product of a set.
func (s *Summary) Add(set Set, rows []Row) {
	s.by(set, rows, func(r Row) Group { return Group{Languages: r.languagesOf(), Ratings: len(ratingsOf(r.Filter))} })
	s.by(set, rows, func(r Row) Group { return Group{Languages: anyLanguages, Ratings: len(ratingsOf(r.Filter))} })
	s.by(set, rows, func(Row) Group { return Group{Languages: anyLanguages} })
	if set.Products > 1 {
		s.by(set, rows, func(r Row) Group { return Group{Languages: anyLanguages, Most: sizeClass(r.Comments)} })
		s.by(set, rows, func(r Row) Group {
			return Group{Languages: anyLanguages, Ratings: len(ratingsOf(r.Filter)), Most: sizeClass(r.Comments)}
		})
	}
	s.by(set, paged(set, rows), func(r Row) Group { return Group{Languages: anyLanguages, Page: r.Page} })
}

// paged returns the pages to compare by number. These are the pages of walks and, for a single
// product, the numbered pages of the lists that reach furthest. So every page number covers the
// same lists.
func paged(set Set, rows []Row) []Row {
	if len(rows) > 0 && rows[0].Walk == PageAfterPage {
		return rows
	}
	if set.Products != 1 {
		return nil
	}
	reach := 0
	for _, r := range rows {
		if slices.Contains(numberedPages, r.Page) {
			reach = max(reach, r.Page)
		}
	}
	return slices.DeleteFunc(slices.Clone(rows), func(r Row) bool {
		return !slices.Contains(numberedPages, r.Page) || r.Reach < reach
	})
}

// by adds pages to their groups, after it sets the set, walk and weight of each group.
func (s *Summary) by(set Set, rows []Row, groupOf func(Row) Group) {
	groups := map[Group][]Row{}
	for _, r := range rows {
		group := groupOf(r)
		group.Set, group.Walk = set, r.Walk
		groups[group] = append(groups[group], r)
	}
	weights := []Weight{Equal}
	if set.Products != 1 { // a single product weighs the same in all
		weights = append(weights, ByComments)
	}
	for group, rows := range groups {
		for _, group.Weight = range weights {
			s.add(group, rows)
		}
	}
}

// add adds pages of one product to a group.
func (s *Summary) add(group Group, rows []Row) {
	if s.sums == nil {
		s.sums = map[Group]*[ways]sum{}
	}
	sums := s.sums[group]
	if sums == nil {
		sums = new([ways]sum)
		s.sums[group] = sums
	}
	weight := 1.0
	if group.Weight == ByComments {
		weight = float64(rows[0].Comments)
	}
	weight /= float64(len(rows))
	for _, r := range rows {
		for way, cost := range r.Costs {
			if cost.Waves == 0 && Way(way) != Foresight {
				continue
			}
			to := &sums[way]
			to.pages++
			to.mostWaves = max(to.mostWaves, cost.Waves)
			to.weight += weight
			to.items += weight * float64(cost.Items)
			to.shown += weight * float64(r.Shown)
			to.units += weight * cost.Units
			to.least += weight * r.Costs[Foresight].Units
			to.queries += weight * float64(cost.Queries)
			if cost.Waves <= 1 {
				to.oneWave += weight
			}
		}
	}
}

// Averages returns the averages of every group in every way, in the order in which tables show
// them.
func (s *Summary) Averages() []Average {
	var out []Average
	for group, sums := range s.sums {
		for way, sum := range sums {
			if sum.pages > 0 {
				out = append(out, Average{
					Group: group, Way: Way(way), Pages: sum.pages,
					ItemsPerShown: sum.items / sum.shown, UnitsPerPage: sum.units / sum.weight, QueriesPerPage: sum.queries / sum.weight,
					OneWave: sum.oneWave / sum.weight, MostWaves: sum.mostWaves, OverForesight: sum.units / sum.least,
				})
			}
		}
	}
	slices.SortFunc(out, func(a, b Average) int {
		return cmp.Or(
			cmp.Compare(b.Products, a.Products), cmp.Compare(a.Comments, b.Comments), cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(a.Walk, b.Walk), cmp.Compare(a.Most, b.Most), cmp.Compare(a.Languages, b.Languages),
			cmp.Compare(min(a.Page, 1), min(b.Page, 1)), cmp.Compare(a.Ratings, b.Ratings), cmp.Compare(a.Page, b.Page),
			cmp.Compare(a.Way, b.Way),
		)
	})
	return out
}
