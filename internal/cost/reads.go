package cost

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
)

// page is a kind of page, and the read units of a view that no cache answers.
type page struct {
	what  string
	share float64
	units layout.Units
}

// deepPage is the number of a numbered page, if the product has as many: those near the beginning are
// read through to, and cost less.
const deepPage = 10

// pages are the kinds of pages. TestTheEngineBillsTheSame holds them against the Store and the engine.
func (w Workload) pages() []page {
	first := comment.Slice{Size: int(w.PageSize)}
	further, numbered := first, first
	further.After, numbered.Page = new(comment.Place), deepPage
	filter := comment.Filter{Languages: languages(int(w.FilterLanguages))}
	for rating := comment.MaxRating; rating > comment.MaxRating-int(w.FilterRatings); rating-- {
		filter.Ratings = append(filter.Ratings, rating)
	}
	filter, _ = filter.Normalize() // it names what there is
	statistics := layout.Units{layout.InTable: dynamo.StatsUnits()}
	with := func(units layout.Units) layout.Units { units.Add(statistics, 1); return units }
	leaders := counts.LeadersBill(int(w.Leaders), len(productName))
	return []page{
		{"product pages", w.Kinds.Product, with(w.mean(comment.Query{Slice: first}))},
		{"further pages", w.Kinds.Further, w.mean(comment.Query{Slice: further})},
		{"pages by number", w.Kinds.Numbered, with(w.mean(comment.Query{Slice: numbered}))},
		{"filtered lists", w.Kinds.Filtered, with(w.mean(comment.Query{Filter: filter, Slice: first}))},
		{"lists of products", w.Kinds.Lists, layout.Units{layout.InTable: w.ListSize * dynamo.StatsUnits()}},
		{"leaderboards", w.Kinds.Leaderboards, layout.Units{layout.InTable: layout.EventualUnits(1), layout.Boards: leaders - layout.EventualUnits(1)}},
	}
}

// mean returns what a page is expected to read: the mean over the products, by their views.
func (w Workload) mean(q comment.Query) layout.Units {
	q.Order = comment.NewestFirst
	units := layout.Units{}
	for _, class := range w.classes() {
		units.Add(w.expected(q, class.comments), class.share)
	}
	return units
}

// expected returns what a page of a product of so many comments is expected to read. A page that the
// list does not have is the last one that it has.
func (w Workload) expected(q comment.Query, comments float64) layout.Units {
	stats := w.statsOf(comments)
	if total := stats.Counts(q.Filter).Total(); q.Slice.Page > 0 {
		q.Slice.Page = min(q.Slice.Page, (total-1)/q.Slice.Size+1)
	}
	return planner.Expected(planner.Knowledge{Stats: stats, Trusted: true, Sizes: w.sizes()}, q, dynamo.TypicalLookup())
}

// sizes are what the entries of list indexes have, on average. They vary as those of unknown products
// are assumed to: by half.
func (w Workload) sizes() planner.Sizes {
	it, bytes := layout.Encode(w.example()), 0
	for _, index := range layout.ListIndexes() {
		bytes += layout.EntrySize(it, index) / len(layout.ListIndexes())
	}
	return planner.Sizes{Any: planner.ItemSize{Mean: float64(bytes), Deviation: float64(bytes) / 2}}
}

// reads returns the read units of a month's views by kind, those left to the table.
func (w Workload) reads() (kinds []Line, all layout.Units) {
	all = layout.Units{}
	for _, page := range w.pages() {
		views := w.Views * page.share * (1 - w.Cached)
		if views == 0 {
			continue
		}
		kinds = append(kinds, Line{What: page.what, Number: views, Each: page.units.Total()})
		all.Add(page.units, views)
	}
	return kinds, all
}
