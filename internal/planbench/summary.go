package planbench

import (
	"cmp"
	"slices"
)

// How many languages a list is of, as averages tell them apart.
const (
	noLanguage       = "none"
	oneLanguage      = "one"
	severalLanguages = "several"
	// any stands for all there are.
	anyLanguages = "any"
)

// languagesOf says how many languages the row's list is of.
func (r Row) languagesOf() string {
	switch len(r.Filter.Languages) {
	case 0:
		return noLanguage
	case 1:
		return oneLanguage
	}
	return severalLanguages
}

// Group is what averages are taken over.
type Group struct {
	// Comments is how many the product has.
	Comments int
	// Languages is "none", "one", "several" or "any".
	Languages string
	// Ratings is how many are chosen, 0 for any number.
	Ratings int
	// Page is the number of the page, 0 for any.
	Page int
}

// Average is the mean cost of the pages of a group in one way.
type Average struct {
	Group
	// Way is the way.
	Way Way
	// Pages is how many there are.
	Pages int
	// ItemsPerShown is how many comments were scanned for each one shown.
	ItemsPerShown float64
	// UnitsPerPage and QueriesPerPage are means.
	UnitsPerPage, QueriesPerPage float64
	// OneWave is the share of pages that took one wave, MostWaves the number that the slowest took.
	OneWave   float64
	MostWaves int
	// OverForesight is the ratio of its units to those of foresight.
	OverForesight float64
}

// Summarize takes averages of pages: by the number of ratings and languages, by the number of
// ratings alone, of all, and by page.
func Summarize(rows []Row) []Average {
	out := averages(rows, func(r Row) Group { return Group{r.Comments, r.languagesOf(), len(ratingsOf(r.Filter)), 0} })
	out = append(out, averages(rows, func(r Row) Group { return Group{r.Comments, anyLanguages, len(ratingsOf(r.Filter)), 0} })...)
	out = append(out, averages(rows, func(r Row) Group { return Group{r.Comments, anyLanguages, 0, 0} })...)
	return append(out, averages(deepest(rows), func(r Row) Group { return Group{r.Comments, anyLanguages, 0, r.Page} })...)
}

// deepest are the numbered pages of those lists that reach the deepest of them which any list of
// the same product reaches: every one of these pages has the same lists behind it.
func deepest(rows []Row) []Row {
	reach := map[int]int{}
	for _, r := range rows {
		if slices.Contains(numberedPages, r.Page) {
			reach[r.Comments] = max(reach[r.Comments], r.Page)
		}
	}
	var out []Row
	for _, r := range rows {
		if slices.Contains(numberedPages, r.Page) && r.Reach >= reach[r.Comments] {
			out = append(out, r)
		}
	}
	return out
}

// averages are those of every group of rows in every way, in the order of the groups.
func averages(rows []Row, groupOf func(Row) Group) []Average {
	groups := map[Group][]Row{}
	for _, r := range rows {
		groups[groupOf(r)] = append(groups[groupOf(r)], r)
	}
	var out []Average
	for group, rows := range groups {
		for way := range Way(ways) {
			out = append(out, average(group, way, rows))
		}
	}
	slices.SortFunc(out, func(a, b Average) int {
		return cmp.Or(cmp.Compare(a.Comments, b.Comments), cmp.Compare(a.Languages, b.Languages),
			cmp.Compare(a.Ratings, b.Ratings), cmp.Compare(a.Page, b.Page), cmp.Compare(a.Way, b.Way))
	})
	return out
}

func average(group Group, way Way, rows []Row) Average {
	a := Average{Group: group, Way: way, Pages: len(rows)}
	var items, shown, queries, oneWave int
	var units, least float64
	for _, r := range rows {
		cost := r.Costs[way]
		items += cost.Items
		shown += r.Shown
		queries += cost.Queries
		units += cost.Units
		least += r.Costs[Foresight].Units
		a.MostWaves = max(a.MostWaves, cost.Waves)
		if cost.Waves <= 1 {
			oneWave++
		}
	}
	pages := float64(len(rows))
	a.ItemsPerShown = float64(items) / float64(shown)
	a.UnitsPerPage, a.QueriesPerPage = units/pages, float64(queries)/pages
	a.OneWave = float64(oneWave) / pages
	a.OverForesight = units / least
	return a
}
