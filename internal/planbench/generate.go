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

// generatedProduct is the product that generated comments are about.
const generatedProduct = "espresso-machine"

// The time of generated comments.
var (
	generatedFrom = time.Date(2023, 11, 1, 0, 0, 0, 0, time.UTC)
	generatedDays = 3 * 365
)

// tongue is a language of generated comments.
type tongue struct {
	language comment.Language
	weight   float64
	growth   float64 // of the weight over the whole time
	mood     float64 // by how much its share of the lower ratings differs
	bytes    float64 // median of a text
}

// The shares of languages and ratings are like those of an international shop: one language has half of the comments,
// five stars have two thirds of them, and there is more anger than indifference.
var (
	tongues = []tongue{
		{"en", 48, 0.8, 1, 140}, {"de", 18, 1.1, 1.3, 170}, {"fr", 11, 1.2, 1.1, 130}, {"es", 9, 1.5, 0.9, 110},
		{"ja", 6, 1.3, 1.5, 190}, {"pt-BR", 5, 2, 0.7, 90}, {"ar", 3, 1.5, 1, 120},
	}
	starWeights = [comment.MaxRating]float64{9, 4, 7, 16, 64}
)

// textSpread is the standard deviation of the logarithm of a text's length.
const textSpread = 1.0

// Generate makes so many comments on one product, the same ones for the same seed. More are written every month. Ratings
// drift: opinion swings over the years, and twice a bad batch brings weeks of one-star comments.
func Generate(count int, seed uint64) []comment.Comment {
	r := rand.New(rand.NewPCG(seed, uint64(count)))
	out := make([]comment.Comment, count)
	for i := range out {
		out[i] = generated(r)
	}
	return out
}

func generated(r *rand.Rand) comment.Comment {
	elapsed := math.Pow(r.Float64(), 0.6) // denser towards the end
	at := generatedFrom.Add(time.Duration(elapsed * float64(generatedDays) * float64(24*time.Hour)))
	t := draw(r, tongues, func(t tongue) float64 { return t.weight * (1 + (t.growth-1)*elapsed) })
	var distinct [10]byte
	binary.BigEndian.PutUint64(distinct[:], r.Uint64())
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(at, distinct)),
		ProductID: generatedProduct,
		Language:  t.language,
		Rating:    draw(r, []int{1, 2, 3, 4, 5}, func(rating int) float64 { return starWeight(rating, elapsed, t.mood) }),
		Text:      words(r, int(t.bytes*math.Exp(textSpread*r.NormFloat64()))),
		Author:    comment.Author{ID: fmt.Sprintf("a%08x", r.Uint32()), Name: words(r, 5+r.IntN(15))},
		Version:   1,
	}
	if r.IntN(5) < 3 {
		title := words(r, 8+r.IntN(40))
		c.Title = &title
	}
	return c
}

// starWeight is how often a rating is given at a time, 0 the first and 1 the last.
func starWeight(rating int, elapsed, mood float64) float64 {
	weight := starWeights[rating-1]
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

// vocabulary are words for texts, which are stored compressed: a sentence said over and over would take no place at all.
var vocabulary = strings.Fields(`a about after again all and any arrived as at bad be because been before best better boils bought box
	broke but button buy came can cheap clean coffee color comes could cup customer day days delivery did does easy else even every
	expected fast few filter find fine first for found friend from gift good got great had handle has have heavy home hot hours house
	how however husband if in instructions is it just kitchen large last less like little long look loud love machine made make many
	me milk minutes money month morning most much my need never new nice noise not nothing now of off often old on once one only open
	or order other our out over part perfect pieces plastic pressure price problem quality quickly quiet quite really recommend
	replacement returned right same seems sent service should simple since small so some sometimes soon steam still stopped strong
	sturdy such taste than that the them then there they thing this three time to too took twice two under until up use used very
	warranty was water we week well were what when which while wife will with without work works worth would year years you`)

// words are so many bytes of text, at least one.
func words(r *rand.Rand, bytes int) string {
	bytes = max(1, min(bytes, 20_000))
	var b strings.Builder
	for b.Len() < bytes {
		b.WriteString(vocabulary[r.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()[:bytes]
}
