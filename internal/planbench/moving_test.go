package planbench

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// For a product that gets new comments, first pages cost no more because the store remembers
// earlier ones, and take hardly more waves.
func TestPagesThatMove(t *testing.T) {
	for _, each := range []int{0, 3, 30} {
		products := growing(t, 4, each)
		synctest.Test(t, func(t *testing.T) {
			remembering, fresh := readFirstPages(t, products, true), readFirstPages(t, products, false)
			t.Logf("%d more comments each time: %v remembering, %v not", each, remembering, fresh)
			if remembering.units > 1.01*fresh.units || remembering.oneWave < fresh.oneWave-fresh.pages/50 {
				t.Errorf("%d more comments each time: %v remembering, %v not", each, remembering, fresh)
			}
		})
	}
}

// growing returns a product at several moments. Between two moments the product gets each comments.
func growing(t *testing.T, moments, each int) []*Product {
	t.Helper()
	whole := must.Get(NewProduct(Generate(500, 1)))(t)
	var out []*Product
	for left := (moments - 1) * each; len(out) < moments; left -= each {
		p := must.Get(NewProduct(whole.comments[left:]))(t)
		out = append(out, p)
	}
	return out
}

// tally is the cost of pages.
type tally struct {
	pages, oneWave int
	units          float64
}

func (s tally) String() string {
	return fmt.Sprintf("%.2f units a page, one wave for %.1f %%", s.units/float64(s.pages), 100*float64(s.oneWave)/float64(s.pages))
}

// readFirstPages reads the first page of lists of any language and of two, at intervals of a
// minute, and returns the cost of the later half.
func readFirstPages(t *testing.T, products []*Product, remembering bool) tally {
	var sum tally
	sets := products[0].languageSets()
	for _, languages := range [][]comment.Language{nil, sets[3]} {
		for set := 1; set < 1<<comment.MaxRating; set++ {
			q := comment.Query{Product: products[0].id, Filter: comment.Filter{Languages: languages, Ratings: ratingSet(set)},
				Order: comment.NewestFirst, Slice: comment.Slice{Size: PageSize}}
			now, known := new(Table), planner.Knowledge{}
			options := dynamo.Options{Knowledge: func(comment.Query) planner.Knowledge { return known }}
			store := now.Store(options)
			for moment, p := range products {
				*now, known = *p.table, p.known()
				if !remembering {
					store = now.Store(options)
				}
				page := must.Get(store.Comments(t.Context(), q))(t)
				if moment >= len(products)/2 {
					sum.add(page.Plan())
				}
				time.Sleep(time.Minute)
			}
		}
	}
	return sum
}

func (s *tally) add(plan comment.QueryPlan) {
	s.pages++
	s.units += plan.ReadUnits
	if plan.Waves <= 1 {
		s.oneWave++
	}
}
