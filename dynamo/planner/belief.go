package planner

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// belief takes the place of counts that are not known: what is likely of a product, by what
// products are like and by a Sample.
//
// Shares of ratings and languages have Dirichlet distributions. Each comment that was seen counts
// as much as one of those that the mean shares stand for.
// https://en.wikipedia.org/wiki/Dirichlet-multinomial_distribution
type belief struct {
	// shares are the mean shares of the cells, as counts of about shareTotal comments. list is how
	// many of these are in the list.
	shares grid
	list   int
	// mix is what was likely before a sample. scanned is how many comments the sample scanned.
	// sampled is the share of the product that its partition holds.
	mix              mix
	scanned, sampled float64
	// ratings and languages say how well the shares of ratings and languages in the list are known, as
	// numbers of comments.
	ratings, languages float64
	// sizes are how many comments of the product there may be to read, ascending.
	sizes likelySizes
}

const (
	// shareTotal is the sum of all shares. It is so large that shares of rare cells are above 0.
	shareTotal = 1 << 28
	// leastShare is the least share of what is not in the list: products may be of another kind.
	leastShare = 0.002
)

// mix is how the comments of a product are likely to be distributed before any of them was seen.
type mix struct {
	filter    comment.Filter
	languages []float64 // shares of the languages of the filter
}

func sum(shares []float64) (total float64) {
	for _, share := range shares {
		total += share
	}
	return total
}

// scale makes shares add up to a total, unless all are zero.
func scale(shares []float64, total float64) {
	if before := sum(shares); before > 0 {
		for i := range shares {
			shares[i] *= total / before
		}
	}
}

// newBelief is what is likely of a product when a stretch of one of its lists is to be read, after a
// sample if there was one.
func newBelief(filter comment.Filter, r Request) *belief {
	m := mix{filter: filter, languages: slices.Repeat([]float64{likelyLanguage}, len(filter.Languages))}
	// Each has its share of what the others leave.
	scale(m.languages, min(1-math.Pow(1-likelyLanguage, float64(len(m.languages))), 1-leastShare))
	s := r.Sample
	if s == nil {
		s = &Sample{partition: layout.Partition{Index: layout.All}}
	}
	var inRatings [comment.MaxRating]float64
	for i, one := range likelyRatings {
		if len(m.filter.Ratings) == 0 || slices.Contains(m.filter.Ratings, i+1) {
			inRatings[i] = one
		}
	}
	rated := sum(inRatings[:])
	scale(inRatings[:], 1)
	inLanguages, named := []float64{1}, 1.0
	if len(m.languages) > 0 {
		inLanguages, named = slices.Clone(m.languages), sum(m.languages)
		scale(inLanguages, 1)
	}
	b := &belief{
		mix: m, scanned: float64(s.scanned), sampled: m.sampled(s.partition),
		ratings: ratingsAlike * rated, languages: languagesAlike * named,
	}
	for i := range inRatings {
		inRatings[i] = posterior(inRatings[i], b.ratings, s.ratings[i], s.returned)
	}
	for i, language := range m.filter.Languages {
		inLanguages[i] = posterior(inLanguages[i], b.languages, s.languages[language], s.returned)
	}
	before, traits := min(rated*named/b.sampled, 1), likelyTraits(m.filter)
	list := posterior(before*traits, m.weight(s.partition.Index), s.returned, s.scanned)
	if before == 1 || list > traits {
		traits = list / before // it is known better now, or cannot be less
	}
	cells := min(list/traits, 1) // whatever the traits
	b.shares = m.fill(s.partition, b.sampled*cells, (1-cells)/max(1-before, leastShare), inRatings, inLanguages)
	b.shares.list(traits)
	whole := wholeProduct(m.filter)
	b.list, _ = b.shares.wanted(&whole)
	b.ratings, b.languages = b.ratings+float64(s.returned), b.languages+float64(s.returned)
	b.sizes = likelyComments.toRead(r, filter, float64(b.list)/shareTotal, b.sampled)
	return b
}

// weight is how many comments the share of the list in a part counts as.
func (b *belief) weight(part *Part, s share) float64 {
	return b.mix.weight(part.Index) + b.scanned*min(1, float64(s.held)/shareTotal/b.sampled)
}

// sampled is the share of the product in the partition of a sample.
func (m mix) sampled(partition layout.Partition) float64 {
	switch {
	case partition.Index.SplitsByLanguage():
		return sum(m.languages) // a list in one language
	case partition.Index.SplitsByRating():
		return likelyRatings[partition.Rating-1]
	}
	return 1
}

// weight is how many comments the share of the list in a partition of an index counts as.
func (m mix) weight(index layout.Index) float64 {
	if index.SplitsByLanguage() || len(m.languages) == 0 {
		return ratingsAlike
	}
	return languagesAlike // which is less
}

// fill returns the shares of all cells. list is the share of the list in the product. Cells of the
// partition outside the list have their earlier shares multiplied by others.
func (m mix) fill(partition layout.Partition, list, others float64, inRatings [comment.MaxRating]float64, inLanguages []float64) (shares grid) {
	part := Part{Partition: partition}
	row := func(language comment.Language, in, share float64) (counts tally) {
		for i, rating := range likelyRatings {
			mean := share * rating
			switch {
			case in > 0 && inRatings[i] > 0:
				mean = list * in * inRatings[i]
			case part.Holds(comment.Cell{Language: language, Rating: i + 1}):
				mean *= others
			}
			counts.held[i] = int(shareTotal * mean)
		}
		return counts
	}
	if len(m.languages) == 0 {
		shares.all = row(comment.OtherLanguages, 1, 1)
		return shares
	}
	shares.all = row(comment.OtherLanguages, 0, 1-sum(m.languages))
	for i, language := range m.filter.Languages {
		shares.add(language, row(language, inLanguages[i], m.languages[i]))
	}
	return shares
}

// list notes that comments have traits which the list allows with a probability.
func (g *grid) list(probability float64) {
	allow := func(t *tally) {
		for i, n := range t.held {
			t.listed[i] = int(float64(n) * probability)
		}
	}
	g.media = int(float64(g.all.held.Total()) * likelyMedia)
	g.helpful = int(float64(g.all.held.Total()) * likelyHelpful)
	allow(&g.all)
	allow(&g.named)
	for i := range g.rows {
		allow(&g.rows[i].counts)
	}
}

// spread are the variances of how many of n comments of the list are in a part, and of how many
// others stand between them, given what they are if the shares are exact: shares are not.
func (b *belief) spread(part *Part, s share, n, wanted, others float64) (float64, float64) {
	known := b.ratings
	if part.Index.SplitsByLanguage() {
		known = b.languages
		if part.Index.SplitsByRating() {
			known = min(known, b.ratings)
		}
	}
	wanted *= 1 + (n-1)/(known+1) // a Dirichlet-multinomial number
	if s.held > s.wanted {
		in := float64(s.wanted) / float64(s.held)
		held := b.weight(part, s)
		between := n * float64(s.held-s.wanted) / float64(s.matches)
		others += between * between * min(2, 1/(held*in+1)+1/(held*(1-in)+1)) // of the odds of a beta distribution
	}
	return wanted, others
}
