package planbench

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

// generatedProduct is the product of comments that Generate makes.
const generatedProduct = "espresso-machine"

// The first and last time of generated comments.
var (
	generatedFrom = time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC)
	generatedDays = 3 * 365
)

// tongue is a language of generated comments.
type tongue struct {
	language comment.Language
	weight   float64
	growth   float64 // of the weight over the whole time
	mood     float64 // difference of its share of the lower ratings
	bytes    float64 // median of a text
}

// The shares of languages and ratings are like those of an international shop: one language has
// half of the comments, two thirds have five stars, and more are angry than indifferent.
var (
	tongues = []tongue{
		{"en", 48, 0.8, 1, 140}, {"de", 18, 1.1, 1.3, 170}, {"fr", 11, 1.2, 1.1, 130}, {"es", 9, 1.5, 0.9, 110},
		{"ja", 6, 1.3, 1.5, 190}, {"pt-BR", 5, 2, 0.7, 90}, {"ar", 3, 1.5, 1, 120},
	}
	starWeights = [comment.MaxRating]float64{9, 4, 7, 16, 64}
)

// kind describes the comments of a product.
type kind struct {
	product string
	tongues []tongue
	stars   [comment.MaxRating]float64 // weights of ratings
}

// textSpread is the standard deviation of the logarithm of a text's length.
const textSpread = 1.0

// Generate returns comments on one product, the same ones for the same seed. Their number grows
// from month to month. Ratings drift: they swing over the years, and two bad batches each bring
// weeks of one-star comments.
func Generate(count int, seed uint64) []comment.Comment {
	r := rand.New(rand.NewPCG(seed, uint64(count)))
	k := kind{generatedProduct, tongues, starWeights}
	out := make([]comment.Comment, count)
	for i := range out {
		out[i] = k.generated(r)
	}
	return out
}

func (k kind) generated(r *rand.Rand) comment.Comment {
	elapsed := math.Pow(r.Float64(), 0.6) // denser towards the end
	at := generatedFrom.Add(time.Duration(elapsed * float64(generatedDays) * float64(24*time.Hour)))
	t := draw(r, k.tongues, func(t tongue) float64 { return t.weight * (1 + (t.growth-1)*elapsed) })
	var distinct [10]byte
	binary.BigEndian.PutUint64(distinct[:], r.Uint64())
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(at, distinct)),
		ProductID: k.product,
		Language:  t.language,
		Rating:    draw(r, []int{1, 2, 3, 4, 5}, func(rating int) float64 { return k.starWeight(rating, elapsed, t.mood) }),
		Text:      words(r, int(t.bytes*math.Exp(textSpread*r.NormFloat64()))),
		Author:    comment.Author{ID: fmt.Sprintf("a%08x", r.Uint32()), Name: words(r, 5+r.IntN(15))},
		Version:   1,
	}
	if r.IntN(5) < 3 {
		c.Title = new(words(r, 8+r.IntN(40)))
	}
	return c
}

// starWeight returns the weight of a rating at a time, from 0 for the first time to 1 for the last.
func (k kind) starWeight(rating int, elapsed, mood float64) float64 {
	weight := k.stars[rating-1]
	if rating < 4 {
		weight *= mood * (1 + 0.5*math.Sin(4*math.Pi*elapsed))
	}
	badBatch := math.Abs(elapsed-0.45) < 0.015 || math.Abs(elapsed-0.97) < 0.01
	if rating == 1 && badBatch {
		weight *= 5
	}
	return weight
}

// draw draws one of some values by their weights.
func draw[T any](r *rand.Rand, values []T, weight func(T) float64) T {
	total := 0.0
	for _, value := range values {
		total += weight(value)
	}
	at := r.Float64() * total
	for _, value := range values {
		if at -= weight(value); at < 0 {
			return value
		}
	}
	return values[len(values)-1]
}

// vocabulary has the words of generated texts, the most frequent first.
var vocabulary = strings.Fields(`the and it is a I to of in for this my with not was on but have very that as so me from
	you at good be had after one they would than out when all just will up water time great use well made still coffee easy
	because only works quality two machine price even again first too bought really like day better little handle years
	clean product quickly hot never lid months much every return heavy small looks could fast them replaced money broke
	kitchen recommend nice some week delivery box instructions quiet cheap plastic service button steam arrived without
	perfect stopped star noise cable disappointed before leaks sturdy expected daughter present button's smell metal fits
	described packaging refund morning twice cup beans grinder pressure setting display colour warranty happy customer's
	unfortunately finally although thermometer descaling everything milk, design; "worth" it's (almost) 20 30% drip-tray`)

// words returns a text of a number of bytes, at least one. Words have the frequencies of a
// language, so that compression saves about as much as on reviews: 34 % of 200 bytes and 44 % of
// 450, compared with 34 and 41 % measured on reviews of an app.
func words(r *rand.Rand, bytes int) string {
	bytes = max(1, min(bytes, 20_000))
	var out strings.Builder
	for out.Len() < bytes {
		u := r.Float64()
		out.WriteString(vocabulary[int(u*u*float64(len(vocabulary)))])
		out.WriteByte(' ')
	}
	return out.String()[:bytes]
}
