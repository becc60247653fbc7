package planbench

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// indexed is an index of a product's comments that finds no more than required: unless an exact
// rank is wanted, its places leave comments to skip.
type indexed struct {
	rankedIndex
	least int // number of comments that it leaves
	// side is where it puts places instead of before a page.
	side side
}

// side is the side of a page on which a place is: before it, behind it, or in the middle.
type side string

func (x indexed) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	targets = slices.Clone(targets)
	for i, target := range targets {
		if target.At == nil && !target.Exact {
			targets[i].Rank = max(0, target.Rank-x.least)
			switch {
			case x.side == "behind" && target.Size > 0:
				targets[i].Rank = target.Rank + target.Size + x.least
			case x.side == "in the middle" && target.Size > 0:
				targets[i].Rank = target.Rank + 1 + x.least%target.Size
			}
		}
	}
	found, err := x.rankedIndex.Find(ctx, list, targets)
	found.Cost = pageindex.Cost{Calls: 3, Waves: 2, ReadUnits: 2}
	return found, err
}

// A page by number is the page that a walk by cursor shows, whatever statistics the planner has,
// and however many comments the index leaves to skip. It costs at most layout.BoundFactor times the
// estimate. Its links lead to the beginnings of their pages.
func TestPagesByNumberAreThePagesByCursor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := hostile(t, false)
		q := anyPage(t, p)
		q.Slice = comment.Slice{Size: max(1, q.Slice.Size)}
		if rapid.IntRange(0, 3).Draw(t, "hostile") > 0 { // otherwise hardly any comment matches
			q.Filter = rapid.SampledFrom([]comment.Filter{
				{}, {Ratings: []int{5}}, {Ratings: []int{1, 4, 5}}, {Verified: new(true)}, {Verified: new(false), Ratings: []int{2, 5}}, {Languages: []comment.Language{"en"}}, {Languages: []comment.Language{"en", manyTongues[0]}, Ratings: []int{5}},
			}).Draw(t, "common")
		}
		if q.Filter = dated(t, p, q.Filter); q.Filter.Dated() {
			q.Count = rapid.SampledFrom([]comment.Counting{comment.CountNothing, comment.CountTotal, comment.CountByRating}).Draw(t, "counting")
		}
		q.Numbering = comment.Numbering{
			Count: rapid.Bool().Draw(t, "count"), Number: rapid.Bool().Draw(t, "number"),
			Links: rapid.Bool().Draw(t, "links"), Around: rapid.IntRange(0, comment.MaxAround).Draw(t, "around"),
		}
		list := commenttest.NewModel(p.comments...).List(generatedProduct, q.Filter, q.Order)
		pages := comment.Pages(len(list), q.Slice.Size)
		q.Slice.Page = rapid.IntRange(1, pages+2).Draw(t, "page")

		known := rapid.SampledFrom([]planner.Knowledge{{}, p.known(), {Stats: p.stats}, {Stats: anyBelief(t, p)}}).Draw(t, "known")
		options := knowing(known)
		options.PageNumbers = indexed{rankedIndex{p}, rapid.SampledFrom([]int{0, 1, 20, 101, 256, 1000}).Draw(t, "least"), rapid.SampledFrom([]side{"before", "behind", "in the middle"}).Draw(t, "side")}
		store := p.table.Store(options)

		page := numberedPage(t, store, q)
		start := min(q.Slice.Rank(), len(list))
		end := min(start+q.Slice.Size, len(list))
		checkIsSlice(t, page, list, start, end, true)
		if q.Count != comment.CountNothing {
			checkCounted(t, page, list)
		}
		if q.Numbering.Asks() {
			checkNumbered(t, store, q, page, list)
		}
	})
}

// numberedPage reads a page and compares its cost with the bound.
func numberedPage(t *rapid.T, store *dynamo.Store, q comment.Query) comment.Page {
	page, units, err := charged(t.Context(), store, q)
	must.Do(t, err)
	if most := promised(q); units > most {
		t.Fatalf("the page cost %v units, at most %v are promised\n%s", units, most, page.Plan().Summary())
	}
	return page
}

// checkCounted compares the count of a range of dates with the list. The count comes from the
// index, and no read is made for it.
func checkCounted(t *rapid.T, page comment.Page, list []comment.Comment) {
	var want comment.Counts
	for _, c := range list {
		want[c.Rating-1]++
	}
	if page.Counted.Err != nil || page.Counted.Total != len(list) || page.Counted.ByRating != want || !page.Plan().Position.Counted {
		t.Fatalf("counted %+v of %v", *page.Counted, want)
	}
	for _, read := range page.Plan().Reads {
		if read.Purpose == comment.ReadCount {
			t.Fatalf("the range was read\n%s", page.Plan().Summary())
		}
	}
}

// numbersOf returns the page numbers of a page. Numbers that were not looked up derive from the
// number of comments.
func numbersOf(t *rapid.T, q comment.Query, page comment.Page, list []comment.Comment) comment.Numbered {
	switch total := len(list); {
	case page.Numbered != nil:
		return *page.Numbered
	case q.LooksUp():
		t.Fatal("nothing was looked up")
		return comment.Numbered{}
	default:
		return comment.Numbered{Counted: true, Total: total, Pages: comment.Pages(total, q.Slice.Size), Page: q.Slice.Number(0, total, total)}
	}
}

// checkNumbered follows the links of a page, and checks the number of each page there.
func checkNumbered(t *rapid.T, store *dynamo.Store, q comment.Query, page comment.Page, list []comment.Comment) {
	numbered := numbersOf(t, q, page, list)
	pages := comment.Pages(len(list), q.Slice.Size)
	counted := numbered.Counted || !q.Numbering.Count && !q.Numbering.Links
	if numbered.Counted {
		counted = numbered.Total == len(list) && numbered.Pages == pages
	}
	if numbered.Err != nil || !counted || numbered.Page != q.Slice.Page {
		t.Fatalf("%+v of a list of %d", numbered, len(list))
	}
	if !q.Numbering.Links {
		return
	}
	links := numbered.Links(q.Numbering.Around)
	want := func(name string, link *comment.PageLink, number int) {
		if there := number >= 1 && number <= pages; there != (link != nil) || there && link.Page != number {
			t.Fatalf("%s is %v, want page %d of %d", name, link, number, pages)
		}
	}
	want("first", links.First, 1)
	want("previous", links.Previous, min(q.Slice.Page-1, pages))
	want("next", links.Next, q.Slice.Page+1)
	want("last", links.Last, pages)
	for i, link := range links.Around {
		want("around", &link, max(1, min(q.Slice.Page, pages)-q.Numbering.Around)+i)
		q := q
		q.Slice, q.Numbering = comment.Slice{Size: q.Slice.Size, After: link.After}, comment.Numbering{Number: true}
		start := (link.Page - 1) * q.Slice.Size
		there := numberedPage(t, store, q)
		checkIsSlice(t, there, list, start, min(start+q.Slice.Size, len(list)), true)
		if number := numbersOf(t, q, there, list).Page; number != link.Page {
			t.Fatalf("the link to page %d leads to page %d", link.Page, number)
		}
	}
}

// A page holds its own texts, and not those of the comments that were skipped before it, in a read
// of their own or in that of the page.
func TestTextsOfSkippedCommentsAreNotHeld(t *testing.T) {
	comments, r := Generate(400, 1), rand.New(rand.NewPCG(1, 0))
	for i := range comments {
		comments[i].Text = words(r, 100)
	}
	p := must.Get(NewProduct(comments))(t)
	held := func(slice comment.Slice) int {
		pool := usage.NewPool(1 << 40)
		options := knowing(planner.Knowledge{})
		options.PageNumbers = indexed{rankedIndex: rankedIndex{p}}
		store := p.table.Store(options)
		q := comment.Query{Product: generatedProduct, Order: comment.NewestFirst, Slice: slice}
		page, err := store.Comments(usage.With(t.Context(), pool.Open(1<<40)), q)
		if err != nil || len(page.Comments) != slice.Size {
			t.Fatal(len(page.Comments), err)
		}
		return pool.Held()
	}
	list := commenttest.NewModel(p.comments...).List(generatedProduct, comment.Filter{}, comment.NewestFirst)
	for _, page := range []int{2, 9} { // skipped in the read of the page; and in a read before it
		slice := comment.Slice{Size: 20, Page: page}
		after := comment.At(list[slice.Rank()-1].ID.Position())
		if byNumber, byCursor := held(slice), held(comment.Slice{Size: 20, After: after}); byNumber > byCursor {
			t.Errorf("page %d holds %d bytes, by cursor %d", page, byNumber, byCursor)
		}
	}
}
