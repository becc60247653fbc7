package planbench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// withVotes returns a product with helpful votes on some comments. One comment in fifty is Finnish.
func withVotes(t *testing.T, count int, voted func(i int) bool) *Product {
	t.Helper()
	comments, r := Generate(count, 1), rand.New(rand.NewPCG(7, 0))
	for i := range comments {
		c := &comments[i]
		if c.Language, c.Text = "en", words(r, 150); i%50 == 0 {
			c.Language = "fi"
		}
		if voted(i) {
			c.ImportedVotes.Helpful = 1 + r.IntN(50)
			c.Votes = c.ImportedVotes
		}
	}
	return must.Get(NewProduct(comments))(t)
}

// numbered returns a Store with some knowledge of a product and an index of page numbers.
func numbered(p *Product, known planner.Knowledge) *dynamo.Store {
	options := knowing(known)
	options.PageNumbers = priced{rankedIndex: rankedIndex{p}}
	return p.table.Store(options)
}

// placeIn returns the place of a rank in a list.
func placeIn(p *Product, q comment.Query, rank int) *comment.Place {
	list := commenttest.NewModel(p.comments...).List(generatedProduct, q.Filter, q.Order)
	place := q.Order.PlaceOf(list[rank])
	return &place
}

// Pages in the order of votes are exact and cost no more than promised, whether few comments of a
// filter or of a range of dates have votes, or few have none. A range that holds few of many
// comments with votes is read whole in their order. How many it holds is known from the index.
func TestPagesInTheOrderOfVotes(t *testing.T) {
	some := withVotes(t, 12_000, func(i int) bool { return i%10 < 3 && i%50 != 0 || i%5000 == 0 })
	many := withVotes(t, 12_000, func(i int) bool { return i%10 > 0 })
	most := withVotes(t, 4000, func(i int) bool { return i >= 10 })
	ago := func(days int) *time.Time { return new(some.comments[0].CreatedAt().AddDate(0, 0, -days)) }
	finnish := []comment.Language{"fi"}
	links := comment.Numbering{Links: true, Around: 2}
	for _, test := range []struct {
		name          string
		p             *Product
		filter        comment.Filter
		slice         comment.Slice
		after, before int // ranks of cursors
		numbering     comment.Numbering
		units         float64 // the most, 0 for as many as are promised
	}{
		{name: "the last day", p: some, filter: comment.Filter{CreatedAfter: ago(1)}, units: 1},
		{name: "the last day, from the end", p: some, filter: comment.Filter{CreatedAfter: ago(1)}, slice: comment.Slice{FromEnd: true}, units: 1},
		{name: "the last week", p: some, filter: comment.Filter{CreatedAfter: ago(7)}, units: 6},
		{name: "the last month", p: some, filter: comment.Filter{CreatedAfter: ago(30)}},
		{name: "until a month ago", p: some, filter: comment.Filter{CreatedBefore: ago(30)}},
		{name: "tomorrow", p: some, filter: comment.Filter{CreatedAfter: ago(-2)}, units: 1},
		{name: "Finnish", p: some, filter: comment.Filter{Languages: finnish}},
		{name: "Finnish of the last month", p: some, filter: comment.Filter{Languages: finnish, CreatedAfter: ago(30)}},
		{name: "nearly all voted", p: most, units: 3},
		{name: "nearly all voted, from the end", p: most, slice: comment.Slice{FromEnd: true}, units: 45},
		{name: "nearly all voted, at the last one with votes", p: most, after: 3990, units: 45},
		{name: "before a cursor of a short range", p: many, filter: comment.Filter{CreatedAfter: ago(1)}, before: 10, units: 2},
		{name: "a page of a longer range", p: many, filter: comment.Filter{CreatedAfter: ago(30)}, slice: comment.Slice{Page: 20}, numbering: links, units: 50},
		{name: "a page of an early range", p: many, filter: comment.Filter{CreatedBefore: ago(1000)}, slice: comment.Slice{Page: 9}, numbering: links, units: 25},
	} {
		for name, known := range map[string]planner.Knowledge{
			"trusted": test.p.known(), "old counts": {Stats: test.p.stats, Sizes: test.p.sizes}, "nothing": {},
		} {
			if len(test.filter.Languages) > 0 && known.Stats == nil {
				continue // the page may be refused: no statistics tell how few comments there are
			}
			t.Run(test.name+", known: "+name, func(t *testing.T) {
				test.slice.Size = 20
				q := comment.Query{Product: generatedProduct, Filter: test.filter, Order: comment.MostHelpful, Slice: test.slice, Numbering: test.numbering}
				if test.after > 0 {
					q.Slice.After = placeIn(test.p, q, test.after-1)
				}
				if test.before > 0 {
					q.Slice.Before = placeIn(test.p, q, test.before)
				}
				limit := layout.BoundFactor * planner.PageEstimate(q)
				if test.units > 0 {
					limit = min(limit, test.units)
				}
				page, units, err := charged(t.Context(), numbered(test.p, known), q)
				must.Do(t, err)
				checkPage(t, test.p, q, page)
				if units > limit || page.Numbered != nil && page.Numbered.Err != nil {
					t.Errorf("the page cost %.1f units, want at most %.1f; numbers: %+v\n%s", units, limit, page.Numbered, page.Plan().Summary())
				}
			})
		}
	}
}

// Finding the number of a page among comments with votes reads no further than that page. Links to
// pages that begin too deep are an error.
func TestNumbersInTheOrderOfVotes(t *testing.T) {
	few := withVotes(t, 4000, func(i int) bool { return i%800 == 0 })
	half := withVotes(t, 3000, func(i int) bool { return i%2 == 0 })
	for _, test := range []struct {
		name      string
		p         *Product
		after     int // rank of a cursor, or
		page      int
		numbering comment.Numbering
		units     float64
		unlinked  bool
	}{
		{"a cursor", few, 2, 0, comment.Numbering{Number: true}, 6, false},
		{"links of a cursor", few, 2, 0, comment.Numbering{Number: true, Links: true, Around: 2}, 25, false},
		{"links of a deeper cursor", half, 200, 0, comment.Numbering{Number: true, Links: true, Around: 2}, 25, false},
		{"the last page but one", half, 0, 51, comment.Numbering{Links: true, Around: 1}, 40, false},
		{"the last page", half, 0, 52, comment.Numbering{Links: true, Around: 1}, 40, true},
		{"too deep", half, 0, 60, comment.Numbering{}, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := comment.Query{Product: generatedProduct, Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, Page: test.page}, Numbering: test.numbering}
			if test.after > 0 {
				q.Slice.After = placeIn(test.p, q, test.after-1)
			}
			page, units, err := charged(t.Context(), numbered(test.p, test.p.known()), q)
			if tooDeep := test.page == 60; tooDeep != (err != nil) {
				t.Fatal(err)
			}
			if units > test.units {
				t.Errorf("it cost %.1f units, want at most %.1f", units, test.units)
			}
			if err == nil && test.unlinked != (page.Numbered.Unlinked != nil) {
				t.Errorf("numbers: %+v", page.Numbered)
			}
		})
	}
}
