package planbench

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
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
	p := must.Get(NewProduct(t.Context(), comments))(t)
	indexes[p] = p.index(t)
	return p
}

// Pages in the order of votes are exact and cost no more than promised, both if few comments of a
// filter or of a range of dates have votes, and if few have none. If ranks are looked up, as for
// traits, a page may cost one largest call more.
func TestPagesInTheOrderOfVotes(t *testing.T) {
	some := withVotes(t, 12_000, func(i int) bool { return i%10 < 3 && i%50 != 0 || i%5000 == 0 })
	most := withVotes(t, 4000, func(i int) bool { return i >= 10 })
	since := func(days int) *time.Time { return new(some.comments[0].CreatedAt().AddDate(0, 0, -days)) }
	finnish := []comment.Language{"fi"}
	for _, test := range []struct {
		name    string
		p       *Product
		filter  comment.Filter
		fromEnd bool
		after   int     // rank of a cursor
		units   float64 // most units beyond the promised ones
	}{
		{"the last day", some, comment.Filter{CreatedAfter: since(1)}, false, 0, 1},
		{"the last day, from the end", some, comment.Filter{CreatedAfter: since(1)}, true, 0, 1},
		{"the last week", some, comment.Filter{CreatedAfter: since(7)}, false, 0, 6},
		{"the last month", some, comment.Filter{CreatedAfter: since(30)}, false, 0, 0},
		{"until a month ago", some, comment.Filter{CreatedBefore: since(30)}, false, 0, 0},
		{"tomorrow", some, comment.Filter{CreatedAfter: since(-2)}, false, 0, 1},
		{"Finnish", some, comment.Filter{Languages: finnish}, false, 0, 0},
		{"Finnish of the last month", some, comment.Filter{Languages: finnish, CreatedAfter: since(30)}, false, 0, 0},
		{"nearly all voted", most, comment.Filter{}, false, 0, 3},
		{"nearly all voted, from the end", most, comment.Filter{}, true, 0, 45},
		{"nearly all voted, at the last one with votes", most, comment.Filter{}, false, 3990, 45},
	} {
		for name, known := range map[string]planner.Knowledge{
			"trusted": test.p.known(), "old counts": {Stats: test.p.stats, Sizes: test.p.sizes}, "nothing": {},
		} {
			if len(test.filter.Languages) > 0 && known.Stats == nil {
				continue // the page may be refused: no statistics tell how few comments there are
			}
			t.Run(test.name+", known: "+name, func(t *testing.T) {
				q := comment.Query{Product: generatedProduct, Filter: test.filter, Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, FromEnd: test.fromEnd}}
				if test.after > 0 {
					q.Slice.After = new(q.Order.PlaceOf(commenttest.NewModel(test.p.comments...).List(generatedProduct, q.Filter, q.Order)[test.after-1]))
				}
				limit := layout.BoundFactor * planner.PageEstimate(q)
				if test.units > 0 {
					limit = min(limit, test.units)
				}
				options := knowing(known)
				options.PageNumbers = priced{Model: indexes[test.p]}
				page, units, err := charged(t.Context(), test.p, options, q)
				must.Do(t, err)
				checkPage(t, test.p, q, page)
				if units > limit {
					t.Errorf("the page cost %.1f units, want at most %.1f\n%s", units, limit, page.Plan().Summary())
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
				q.Slice.After = new(q.Order.PlaceOf(commenttest.NewModel(test.p.comments...).List(generatedProduct, q.Filter, q.Order)[test.after-1]))
			}
			options := knowing(test.p.known())
			options.PageNumbers = priced{Model: indexes[test.p]}
			page, units, err := charged(t.Context(), test.p, options, q)
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

// A range of dates that holds few of many comments with votes is read whole in their order, also in
// front of a cursor and to find numbers of pages. How many it holds is known from the index.
func TestDatesInTheOrderOfVotes(t *testing.T) {
	p := withVotes(t, 12_000, func(i int) bool { return i%10 > 0 })
	day := func(days int) *time.Time { return new(p.comments[0].CreatedAt().AddDate(0, 0, -days)) }
	links := comment.Numbering{Links: true, Around: 2}
	for _, test := range []struct {
		filter    comment.Filter
		before    int // rank of a cursor, or
		page      int
		numbering comment.Numbering
		units     float64
	}{
		{comment.Filter{CreatedAfter: day(1)}, 10, 0, comment.Numbering{}, 2},
		{comment.Filter{CreatedAfter: day(30)}, 0, 20, links, 50},
		{comment.Filter{CreatedBefore: day(1000)}, 0, 9, links, 25},
	} {
		for name, known := range map[string]planner.Knowledge{"trusted": p.known(), "nothing": {}} {
			q := comment.Query{Product: generatedProduct, Filter: test.filter, Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, Page: test.page}, Numbering: test.numbering}
			if test.before > 0 {
				q.Slice.Before = new(q.Order.PlaceOf(commenttest.NewModel(p.comments...).List(generatedProduct, q.Filter, q.Order)[test.before]))
			}
			options := knowing(known)
			options.PageNumbers = priced{Model: indexes[p]}
			page, units, err := charged(t.Context(), p, options, q)
			if err != nil {
				t.Fatal(err)
			}
			checkPage(t, p, q, page)
			if units > test.units || page.Numbered != nil && page.Numbered.Err != nil {
				t.Errorf("%+v, known: %s: %.1f units, want at most %.1f; numbers: %+v\n%s", q.Slice, name, units, test.units, page.Numbered, page.Plan().Summary())
			}
		}
	}
}
