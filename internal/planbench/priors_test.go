package planbench

import (
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/prior"
)

// What is known of a product while it is measured was learnt from the products of the other half.
func TestPriorsAreOfOtherProducts(t *testing.T) {
	products := Catalogue(40, 1)
	priors, err := halfPriors(t.Context(), products)
	if err != nil {
		t.Fatal(err)
	}
	for half, learnt := range priors {
		learner := prior.NewLearner()
		for i, comments := range products {
			if i%2 != half {
				continue
			}
			p, err := NewProduct(t.Context(), comments)
			if err != nil {
				t.Fatal(err)
			}
			learner.See(p.id, p.seen())
		}
		if want := learner.Prior(); learnt.Products != want.Products || learnt.Sizes != want.Sizes || learnt.Learnt == 0 {
			t.Errorf("half %d: learnt from %d products, %+v", half, learnt.Learnt, learnt)
		}
	}
	if priors[0].Products == priors[1].Products {
		t.Error("both halves teach the same")
	}
	if priors, err := halfPriors(t.Context(), [][]comment.Comment{products[0]}); err != nil || priors[0] != nil || priors[1] != nil {
		t.Errorf("a lone product has taught itself: %v, %v", priors, err)
	}
}
