package planbench

import (
	"context"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/usage"
	"github.com/talkback/talkback/pageindex"
)

// priced is an index with the cost of the table's index: each place of a rare comment is in another
// run, whose markers are read. It may fail.
type priced struct {
	rankedIndex
	away *int // number of lookups before it fails; nil for no limit
}

func (x priced) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	if x.away != nil {
		if *x.away--; *x.away < 0 {
			return pageindex.Found{}, comment.Errorf(comment.Unavailable, "the index is away")
		}
	}
	found, err := x.rankedIndex.Find(ctx, list, targets)
	found.Cost = pageindex.Cost{Calls: 2 + len(targets), Waves: 2, ReadUnits: 2}
	for i, target := range targets {
		if target.At != nil {
			found.Cost.ReadUnits += 3
		} else if found.Boundaries[i].Rank == target.Rank {
			found.Cost.ReadUnits++
		}
	}
	usage.From(ctx).Consume(found.Cost.Calls, found.Cost.ReadUnits)
	return found, err
}

// traited are products with few comments that have traits, by how these are spread.
var traited = map[string]*Product{}

// withRareTraits returns a product whose few verified comments are anywhere, the oldest, or none.
func withRareTraits(t rapid.TB, spread string) *Product {
	if traited[spread] != nil {
		return traited[spread]
	}
	comments, r := Generate(6000, 1), rand.New(rand.NewPCG(1, 0))
	for i := range comments {
		c := &comments[i]
		c.Language, c.Rating, c.Text = "en", 5-min(4, r.IntN(9)), words(r, 80)
		switch spread {
		case "anywhere":
			c.Verified = r.IntN(100) == 0
		case "oldest":
			c.Verified = i < 60
		case "common":
			c.Verified = r.IntN(5) > 0
		case "voted":
			if c.Verified = r.IntN(5) > 0; r.IntN(3) == 0 {
				c.ImportedVotes.Helpful = 1 + r.IntN(50)
				c.Votes = c.ImportedVotes
			}
		}
		if r.IntN(40) == 0 {
			c.Media = []comment.Media{{Path: "a.jpg"}}
		}
		if r.IntN(200) == 0 {
			c.Language = "fi"
		}
	}
	p := must.Get(NewProduct(comments))(t)
	traited[spread] = p
	return p
}

// Pages restricted to traits are exact, whatever statistics the planner has, and cost at most
// layout.BoundFactor times the estimate, lookups included. That holds for pages by cursor and by
// number. Without an index, or if it fails, they are exact too, or refused.
func TestPagesOfTraits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := withRareTraits(t, rapid.SampledFrom([]string{"anywhere", "oldest", "common", "voted", "none"}).Draw(t, "spread"))
		q := anyPage(t, p)
		q.Filter = comment.Filter{
			Verified:  rapid.SampledFrom([]*bool{new(true), new(true), new(false), nil}).Draw(t, "verified"),
			WithMedia: rapid.SampledFrom([]*bool{nil, nil, new(true), new(false)}).Draw(t, "with media"),
			Languages: rapid.SampledFrom([][]comment.Language{nil, nil, {"fi"}, {"en", "fi"}}).Draw(t, "language"),
			Ratings:   rapid.SampledFrom([][]int{nil, nil, {5}, {1, 2}}).Draw(t, "ratings"),
		}
		if !q.Filter.MayMatchFew() {
			q.Filter.WithMedia = new(true)
		}
		q.Filter = dated(t, p, q.Filter)
		if rapid.IntRange(0, 2).Draw(t, "by number") == 0 {
			q.Slice = comment.Slice{Size: max(1, q.Slice.Size)}
			q.Slice.Page = 1 + rapid.SampledFrom([]int{0, 20, 240, 600}).Draw(t, "skipped")/q.Slice.Size
		}
		known := rapid.SampledFrom([]planner.Knowledge{{}, p.known(), p.known(), {Stats: p.stats}, {Stats: nothingElse(q.Filter)}}).Draw(t, "known")
		options := knowing(known)
		index := priced{rankedIndex: rankedIndex{p}}
		complete := rapid.IntRange(0, 4).Draw(t, "complete") > 0
		if !complete {
			index.away = new(rapid.IntRange(0, 3).Draw(t, "lookups"))
		}
		options.PageNumbers = index
		page, units, err := charged(t.Context(), p.table.Store(options), q)
		most := layout.BoundFactor * planner.PageEstimate(q)
		if !complete {
			most += layout.LargestCall
			if q.Slice.Page > 1 { // where it begins was looked up apart
				most += layout.BoundFactor * planner.LookupEstimate(q, 0)
			}
		}
		if units > most {
			t.Fatalf("the page cost %v units, at most %v are promised\n%s", units, most, page.Plan().Summary())
		}
		if kind := comment.KindOf(err); !complete && (kind == comment.TooCostly || kind == comment.Unavailable && q.Slice.Page > 1) {
			return
		}
		must.Do(t, err)
		checkPage(t, p, q, page)
	})
}

// A page of a rare trait costs lookups and a read of its comments by ID. Nothing between them is
// read. Without statistics, an attempt comes first.
func TestRareTraitCost(t *testing.T) {
	p := withRareTraits(t, "anywhere")
	for _, order := range commenttest.Orders() {
		for _, known := range []planner.Knowledge{p.known(), {}} {
			q := comment.Query{Product: generatedProduct, Filter: comment.Filter{Verified: new(true)}, Order: order, Slice: comment.Slice{Size: 20}}
			store := numbered(p, known)
			for range 2 {
				page := must.Get(store.Comments(t.Context(), q))(t)
				checkPage(t, p, q, page)
				plan := page.Plan()
				units := plan.ReadUnits + plan.Position.ReadUnits
				t.Logf("%s, counts known: %t: %.1f read units, lookups included, in %d waves", order, known.Stats != nil, units, plan.Waves+plan.Position.Waves)
				most := 61.0
				if order.Keyed() {
					most = 80 // lookups of several links
				}
				if known.Stats != nil && units > most {
					t.Errorf("%s: a page of 20 costs %.1f read units\n%s", order, units, plan.Summary())
				}
				q.Slice.After = new(order.PlaceOf(page.Comments[19]))
			}
		}
	}
}
