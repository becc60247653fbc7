package planbench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/usage"
)

// Every page of every product is exact and costs at most layout.BoundFactor times the estimate,
// whatever statistics the planner has. If comments are larger than assumed, a page may instead fail
// with TooCostly, soon after it cost a megabyte more than that.
func TestPagesStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		large := rapid.IntRange(0, 4).Draw(t, "large") == 0
		p := hostile(t, large)
		q, beliefs := anyPage(t, p), planner.Knowledge{
			Stats: anyBelief(t, p),
			Sizes: planner.Sizes{Any: planner.ItemSize{Mean: rapid.Float64Range(50, 9000).Draw(t, "mean"), Deviation: 100}},
		}
		switch rapid.IntRange(0, 2).Draw(t, "beliefs") {
		case 0:
			beliefs.Stats = nothingElse(q.Filter)
		case 1:
			beliefs.Stats = nil
		}
		page, units, err := charged(t.Context(), p.table.Store(knowing(beliefs)), q)
		most := promised(q)
		if large {
			const call, atOnce = 128.5, 16
			most += call * (1 + 2*atOnce)
		}
		if units > most {
			t.Fatalf("the page cost %v units, at most %v are promised", units, most)
		}
		if comment.KindOf(err) == comment.TooCostly && large {
			return
		}
		must.Do(t, err)
		checkPage(t, p, q, page)
	})
}

// Small pages of large comments stay within the bound, too, once their size is known: a first look
// at a list counts them with their size, and links that may be needless are not read beside others.
func TestPagesOfLargeComments(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 0))
	comments := Generate(300, r.Uint64())
	for i := range comments {
		comments[i].Text = commenttest.Large(r, "", 12<<10+r.IntN(12<<10)).Text
		comments[i].Rating = 1 + r.IntN(comment.MaxRating)
	}
	p := must.Get(NewProduct(commenttest.Voted(r, comments)))(t)
	dated := comment.Filter{CreatedAfter: new(comments[len(comments)/2].CreatedAt())}
	for _, q := range []comment.Query{
		{Order: comment.HighestRated, Slice: comment.Slice{Size: 1}},
		{Order: comment.HighestRated, Slice: comment.Slice{Size: 5}},
		{Order: comment.LowestRated, Slice: comment.Slice{Size: 5}},
		{Order: comment.MostHelpful, Slice: comment.Slice{Size: 1}},
		{Order: comment.MostHelpful, Slice: comment.Slice{Size: 1}, Filter: dated},
	} {
		q.Product = generatedProduct
		page, units, err := charged(t.Context(), p.table.Store(knowing(planner.Knowledge{Sizes: p.sizes})), q)
		must.Do(t, err)
		checkPage(t, p, q, page)
		if most := layout.BoundFactor * planner.PageEstimate(q); units > most {
			t.Errorf("%v, %d comments: %v units, want at most %v\n%s", q.Order, q.Slice.Size, units, most, page.Plan().Summary())
		}
	}
}

// charged reads a page, and returns how many read units it is charged.
func charged(ctx context.Context, store *dynamo.Store, q comment.Query) (comment.Page, float64, error) {
	account := usage.NewPool(1 << 40).Open(1 << 40)
	page, err := store.Comments(usage.With(ctx, account), q)
	return page, account.Units(), err
}

// promised returns the most that a page may cost.
func promised(q comment.Query) float64 {
	units := layout.BoundFactor * planner.PageEstimate(q)
	if q.Order == comment.MostHelpful && (q.Filter.Dated() || len(q.Filter.Conditions()) > 0) {
		units += layout.LargestCall
	}
	return units
}

// Where counts are false, the first page of a filter pays for an attempt that is given up. The
// pages after it make no attempt. Both plans report it.
func TestFailedAttemptIsMadeOnce(t *testing.T) {
	comments, r := Generate(4000, 1), rand.New(rand.NewPCG(1, 0))
	for i := range comments {
		comments[i].Language, comments[i].Rating, comments[i].Text = "en", 5, words(r, 100)
		if i%250 == 0 {
			comments[i].Language = manyTongues[i/250]
		}
	}
	p := must.Get(NewProduct(comments))(t)
	q := comment.Query{Product: generatedProduct, Filter: comment.Filter{Languages: manyTongues[:40]}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 5}}
	store := p.table.Store(knowing(planner.Knowledge{Stats: nothingElse(q.Filter)}))
	attempts := func() (residual int) {
		page := must.Get(store.Comments(t.Context(), q))(t)
		checkPage(t, p, q, page)
		for _, read := range page.Plan().Reads {
			if read.Purpose == comment.ReadPage && len(read.ResidualLanguages()) > 0 {
				residual++
			}
		}
		if !strings.Contains(page.Plan().Summary(), "attempt was given up") {
			t.Errorf("the summary does not tell of the attempt:\n%s", page.Plan().Summary())
		}
		q.Slice.After = comment.At(page.Comments[len(page.Comments)-1].ID.Position())
		return residual
	}
	if first, second := attempts(), attempts(); first == 0 || second != 0 {
		t.Errorf("the first page made %d reads with a residual filter, want some; the second %d, want none", first, second)
	}
}

// A range is counted exactly or not at all, and costs no more than promised.
func TestCountsStayWithinTheirBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := hostile(t, false)
		q := anyPage(t, p)
		q.Slice = comment.Slice{}
		q.Filter.CreatedAfter = new(time.UnixMilli(0).UTC())
		q.Count = rapid.SampledFrom([]comment.Counting{comment.CountTotal, comment.CountByRating}).Draw(t, "counting")
		store := p.table.Store(dynamo.Options{})
		page := must.Get(store.Comments(t.Context(), q))(t)
		units := 0.0
		for _, read := range page.Plan().Reads {
			if read.Purpose == comment.ReadCount {
				units += read.ReadUnits
			}
		}
		if most := layout.BoundFactor * planner.CountEstimate(q); units > most {
			t.Fatalf("counting cost %v units, at most %v are promised", units, most)
		}
		want := len(commenttest.NewModel(p.comments...).List(generatedProduct, q.Filter, q.Order))
		if page.Counted.Err == nil && page.Counted.Total != want {
			t.Fatalf("counted %d of %d", page.Counted.Total, want)
		}
		if err := page.Counted.Err; err != nil && (comment.KindOf(err) != comment.TooCostly || want < 2000 && len(p.comments) < 2000) {
			t.Fatalf("%d comments, of which %d are in the list: %v", len(p.comments), want, err)
		}
	})
}

// nothingElse returns counts of a product whose comments all match a filter.
func nothingElse(filter comment.Filter) comment.Stats {
	stats := comment.Stats{}
	for _, language := range append(filter.Languages[:len(filter.Languages):len(filter.Languages)], "xx") {
		var counts comment.Counts
		for _, rating := range append(filter.Ratings[:len(filter.Ratings):len(filter.Ratings)], 1) {
			counts[rating-1] = 1000
		}
		stats[language] = comment.Row{Counts: counts}
	}
	return stats
}

// hostility describes a product that hostile makes.
type hostility struct {
	seed  uint64
	count int
	rare  float64 // the share of comments of a rare kind
	large bool
}

// hostileProducts are the products that hostile has made. Many queries use each, since making one
// takes longer than a query.
var hostileProducts = map[hostility]*Product{}

// hostile returns a product in which a filter may match hardly anything: many languages, some with
// one comment, and a long run of one kind.
func hostile(t *rapid.T, large bool) *Product {
	h := hostility{
		seed:  rapid.Uint64Range(0, 1).Draw(t, "seed"),
		count: rapid.SampledFrom([]int{1, 60, 600, 2000}).Draw(t, "comments"),
		rare:  rapid.SampledFrom([]float64{0, 0, 0.01, 0.3, 1}).Draw(t, "rare"),
		large: large,
	}
	if large {
		h.count = min(h.count, 60)
	}
	if hostileProducts[h] == nil {
		hostileProducts[h] = h.product(t)
	}
	return hostileProducts[h]
}

func (h hostility) product(t *rapid.T) *Product {
	r := rand.New(rand.NewPCG(h.seed, 0))
	comments := Generate(h.count, r.Uint64())
	for i := range comments {
		c := &comments[i]
		c.Language, c.Rating, c.Text = "en", 5, words(r, r.IntN(600))
		if r.Float64() < h.rare {
			c.Language, c.Rating = manyTongues[r.IntN(len(manyTongues))], 1+r.IntN(5)
		}
		if h.large {
			c.Text = commenttest.Large(r, "", 1+r.IntN(250<<10)).Text
		}
	}
	if h.seed == 1 {
		comments = commenttest.Voted(r, comments)
		for i := range comments {
			comments[i].Verified = r.IntN(2) == 0
		}
	}
	return must.Get(NewProduct(comments))(t)
}

// manyTongues are a hundred languages without English.
var manyTongues = func() (out []comment.Language) {
	for i := range 100 {
		out = append(out, comment.Language(fmt.Sprintf("q%c%c", 'a'+i/26, 'a'+i%26)))
	}
	return out
}()

// anyPage draws a page of any list of a product, at or between its comments.
func anyPage(t *rapid.T, p *Product) comment.Query {
	q := comment.Query{
		Product: generatedProduct,
		Order:   commenttest.AnyOrder(t),
		Slice: comment.Slice{
			Size:    rapid.SampledFrom([]int{1, 0, 3, 20, 100}).Draw(t, "size"),
			FromEnd: rapid.Bool().Draw(t, "from the end"),
		},
	}
	q.Filter.Languages = append(q.Filter.Languages, manyTongues[:rapid.SampledFrom([]int{2, 0, 1, 8, 33, 40, 100}).Draw(t, "languages")]...)
	for rating := 1; rating < 5; rating++ {
		if rapid.Bool().Draw(t, "rated") {
			q.Filter.Ratings = append(q.Filter.Ratings, rating)
		}
	}
	q.Filter = dated(t, p, q.Filter)
	cursor := func(name string) *comment.Place {
		if len(p.comments) == 0 || rapid.Bool().Draw(t, name) {
			return nil
		}
		place := commenttest.AnyPlace(t, q.Order, rapid.SampledFrom(p.comments).Draw(t, name+" of"))
		if rapid.Bool().Draw(t, name+" is gone") {
			place.Position = place.Position.Next()
		}
		return place
	}
	q.Slice.After, q.Slice.Before = cursor("after"), cursor("before")
	if q.Slice.Check(q.Order) != nil {
		q.Slice.Before = nil
	}
	return q
}

// dated returns the normalized filter, sometimes with dates that begin or end at a comment.
func dated(t *rapid.T, p *Product, filter comment.Filter) comment.Filter {
	at := func(name string) *time.Time {
		if rapid.IntRange(0, 4).Draw(t, name) > 0 {
			return nil
		}
		return new(rapid.SampledFrom(p.comments).Draw(t, name+" when").CreatedAt())
	}
	filter.CreatedAfter, filter.CreatedBefore = at("since"), at("until")
	out, err := filter.Normalize()
	if err != nil { // the range is empty
		filter.CreatedBefore = nil
		out = must.Get(filter.Normalize())(t)
	}
	return out
}

// checkPage compares a page with the list.
func checkPage(t rapid.TB, p *Product, q comment.Query, page comment.Page) {
	list := commenttest.NewModel(p.comments...).List(generatedProduct, q.Filter, q.Order)
	start, end := min(q.Slice.Rank(), len(list)), len(list)
	for i, c := range list {
		order := func(other comment.Place) int { return q.Order.Compare(q.Order.PlaceOf(c), other) }
		if after := q.Slice.After; after != nil && order(*after) <= 0 {
			start = i + 1
		}
		if before := q.Slice.Before; before != nil && order(*before) >= 0 {
			end = min(end, i)
		}
	}
	end = max(start, end)
	if q.Slice.FromEnd {
		start = max(start, end-q.Slice.Size)
	} else {
		end = min(end, start+q.Slice.Size)
	}
	checkIsSlice(t, page, list, start, end, q.Slice.Size > 0)
}

// checkIsSlice compares a page with a part of a list. If tells is set, the page knows what is
// before and behind it.
func checkIsSlice(t rapid.TB, page comment.Page, list []comment.Comment, start, end int, tells bool) {
	if len(page.Comments) != end-start {
		t.Fatalf("the page has %d comments, want %d\n%s", len(page.Comments), end-start, page.Plan().Summary())
	}
	for i, c := range page.Comments {
		if c.ID != list[start+i].ID || c.Text != list[start+i].Text {
			t.Fatalf("comment %d is %s, want %s\n%s", i, c.ID, list[start+i].ID, page.Plan().Summary())
		}
	}
	if tells && (page.HasNext != (end < len(list)) || page.HasPrevious != (start > 0)) {
		t.Fatalf("next %t, previous %t; the page is %d to %d of %d\n%s", page.HasNext, page.HasPrevious, start, end, len(list), page.Plan().Summary())
	}
}
