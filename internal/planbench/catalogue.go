package planbench

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/talkback/talkback/comment"
)

// meanComments is the mean number of comments of a catalogue's product: 571.54 million reviews of
// 48.19 million products. https://amazon-reviews-2023.github.io
const meanComments = 11.9

// spread is the standard deviation of the logarithm by which a product's shares of ratings and of
// languages differ from those of the catalogue.
const spread = 0.7

// Catalogue generates the comments of the given number of products, the same ones for the same
// seed. It has a long tail: by Zipf's law, the product of rank r has 1/r of the comments of the
// first, and at least one. https://en.wikipedia.org/wiki/Zipf%27s_law
func Catalogue(products int, seed uint64) [][]comment.Comment {
	harmonic := 0.0
	for rank := 1; rank <= products; rank++ {
		harmonic += 1 / float64(rank)
	}
	out := make([][]comment.Comment, products)
	for i := range out {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		k := kind{product: fmt.Sprintf("product-%05d", i+1)}
		for star, weight := range starWeights {
			k.stars[star] = weight * math.Exp(spread*r.NormFloat64())
		}
		for _, t := range tongues {
			t.weight *= math.Exp(spread * r.NormFloat64())
			k.tongues = append(k.tongues, t)
		}
		count := max(1, int(math.Round(meanComments*float64(products)/harmonic/float64(i+1))))
		for range count {
			out[i] = append(out[i], k.generated(r))
		}
	}
	return out
}
