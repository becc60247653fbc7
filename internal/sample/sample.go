// Package sample generates comments for trying things out. They are fictitious, the same each time,
// and realistic in shape. One product has about half of them; a few hundred share the rest, mostly
// the popular ones. Ratings, languages and times are distributed as in shops. There are edits,
// bursts, frequent authors, and comments without a title or text. Four of five purchases are
// verified. Some comments have pictures, and some were imported with votes.
//
// phrases/ contains whole sentences, in one file for each language. phrases.go combines those that
// fit the rating and the kind of product. pictures/ contains pictures drawn for this purpose.
package sample

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// HotProduct is the product with about half of the comments.
const HotProduct = "espresso-machine"

// The size of the sample.
const (
	total       = 6000
	hotShare    = 0.5
	authors     = 5200
	tailPerKind = 80
)

// All comments and edits are between these times.
var (
	first = time.Date(2018, 11, 1, 0, 0, 0, 0, time.UTC)
	last  = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
)

// Weights, relative to their sum.
var (
	ratingWeights = []float64{6, 4, 8, 20, 62} // 1 to 5 stars

	languageWeights = []float64{43, 16, 12, 11, 9, 6, 3} // of languages, in their order

	// People write in the evening, a little at noon, and seldom at night.
	hourWeights = []float64{2, 1, 1, 1, 1, 2, 3, 5, 6, 7, 7, 7, 9, 8, 7, 7, 8, 9, 10, 12, 14, 13, 9, 5}
	// They write after the holidays and the sales before them.
	monthWeights = []float64{13, 9, 8, 7, 7, 6, 6, 7, 8, 8, 10, 14}
	// Every year brings more of them than the one before.
	yearlyGrowth = 1.2
)

// kinds are the kinds of products besides the hot one, with the prefix of their ids.
var kinds = []struct{ kind, prefix string }{
	{"mug", "ceramic-mug"},
	{"headphones", "wireless-headphones"},
	{"lamp", "desk-lamp"},
	{"backpack", "hiking-backpack"},
	{"knife", "chef-knife"},
}

// Comments returns the sample, the oldest first.
func Comments() iter.Seq[comment.Comment] {
	m := &maker{chance: rand.New(rand.NewPCG(2018, 2026)), traits: rand.New(rand.NewPCG(2018, 3)), wrote: map[string]map[int]bool{}}
	for day := first; day.Before(last); day = day.AddDate(0, 0, 1) {
		years := day.Sub(first).Hours() / 24 / 365.25
		m.days = append(m.days, monthWeights[day.Month()-1]*math.Pow(yearlyGrowth, years))
	}
	all := make([]comment.Comment, total)
	for i := range all {
		all[i] = m.comment()
	}
	slices.SortFunc(all, func(a, b comment.Comment) int { return cmp.Compare(a.ID, b.ID) })
	return slices.Values(all)
}

// maker generates the sample from fixed random sources.
type maker struct {
	chance *rand.Rand
	traits *rand.Rand // for traits, so that they do not affect texts
	days   []float64  // weight of every day
	wrote  map[string]map[int]bool
	burst  int       // number of further comments in the same second
	at     time.Time // of the last comment on the hot product
}

func (m *maker) comment() comment.Comment {
	kind, product := m.product()
	author := m.author(product)
	rating, at := 1+pick(m.chance, ratingWeights), m.time(product)
	var distinct [10]byte
	binary.BigEndian.PutUint64(distinct[:], m.chance.Uint64())
	binary.BigEndian.PutUint16(distinct[8:], uint16(m.chance.Uint32()))
	c := comment.Comment{
		ID:        comment.IDOf(comment.PositionAt(at, distinct)),
		ProductID: product,
		Rating:    rating,
		Language:  author.language,
		Author:    comment.Author{ID: author.id, Name: author.name},
		Version:   1,
	}
	c.Title, c.Text = write(m.chance, phrasebooks()[author.language], kind, rating)
	if m.chance.IntN(30) == 0 {
		if edited := c.CreatedAt().Add(time.Minute + m.under(30*24*time.Hour)); edited.Before(last) {
			c.UpdatedAt, c.Version = &edited, 2
		}
	}
	addTraits(m.traits, kind, &c)
	return c
}

// product chooses the hot product, or one of the long tail, in which the n-th most popular has a
// share of about 1/n.
func (m *maker) product() (kind, id string) {
	if m.chance.Float64() < hotShare {
		return "espresso", HotProduct
	}
	products := float64(tailPerKind * len(kinds))
	rank := int(math.Pow(products+1, m.chance.Float64())) - 1
	k := kinds[rank%len(kinds)]
	return k.kind, fmt.Sprintf("%s-%d", k.prefix, 1+rank/len(kinds))
}

// author is the author of comments, who always writes in the same language.
type author struct {
	id, name string
	language comment.Language
}

// author chooses an author. Some write more often than others, but each only once about a product.
func (m *maker) author(product string) author {
	if m.wrote[product] == nil {
		m.wrote[product] = map[int]bool{}
	}
	number := m.anyone()
	for m.wrote[product][number] {
		number = m.anyone()
	}
	m.wrote[product][number] = true
	// All properties of an author depend on the number alone.
	chance := rand.New(rand.NewPCG(uint64(number), 1))
	language := languages[pick(chance, languageWeights)]
	return author{
		id:       fmt.Sprintf("customer-%d", 10000+number),
		name:     phrasebooks()[language].name(chance),
		language: language,
	}
}

func (m *maker) anyone() int {
	return int(authors * math.Pow(m.chance.Float64(), 1.6))
}

// time chooses the time of a comment. Occasionally, several comments on the hot product share a
// second.
func (m *maker) time(product string) time.Time {
	if product == HotProduct && m.burst > 0 {
		m.burst--
		return m.at.Truncate(time.Second).Add(m.under(time.Second))
	}
	day := first.AddDate(0, 0, pick(m.chance, m.days))
	at := day.Add(time.Duration(pick(m.chance, hourWeights)) * time.Hour).Add(m.under(time.Hour))
	if product == HotProduct {
		m.at = at
		if m.chance.IntN(100) == 0 {
			m.burst = 2 + m.chance.IntN(4)
		}
	}
	return at
}

// under returns a random duration shorter than the limit, in whole milliseconds.
func (m *maker) under(limit time.Duration) time.Duration {
	return time.Duration(m.chance.Int64N(limit.Milliseconds())) * time.Millisecond
}

// pick returns a random index, with probabilities by weight.
func pick(chance *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, weight := range weights {
		sum += weight
	}
	at := chance.Float64() * sum
	for i, weight := range weights {
		if at -= weight; at < 0 {
			return i
		}
	}
	return len(weights) - 1
}
