package planner

import (
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// belief replaces unknown counts by likely ones, from assumptions about products and from a Sample.
//
// Shares of ratings and languages have Dirichlet distributions: the assumed mean shares count as a
// number of comments, and each comment of the sample adds one.
// https://en.wikipedia.org/wiki/Dirichlet-multinomial_distribution
type belief struct {
	// shares has the mean shares of the cells, as counts that add up to about shareTotal. list is
	// the part of shareTotal that is in the list.
	shares grid
	list   int
	// filter is the list's, and named has the assumed shares of its languages.
	filter comment.Filter
	named  []float64
	// scanned is how many comments the sample scanned. sampled is the share of the product in its
	// partition.
	scanned, sampled float64
	// ratings and languages say how certain the shares of ratings and languages in the list are, in
	// comments.
	ratings, languages float64
	// sizes has the likely numbers of comments of the product that are left to read, ascending.
	sizes likelySizes
}

const (
	// shareTotal is the sum of all shares. It is so large that shares of rare cells are above 0.
	shareTotal = 1 << 28
	// leastShare is the lowest share assumed for comments outside the list: the product may be
	// unlike others.
	leastShare = 0.002
)

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

// newBelief returns the belief about a product for a request for one of its lists, after the
// request's sample if it has one.
func newBelief(filter comment.Filter, r Request) *belief {
	b := &belief{filter: filter, named: slices.Repeat([]float64{likelyLanguage}, len(filter.Languages))}
	// Each language has its share of what the others leave.
	scale(b.named, min(1-math.Pow(1-likelyLanguage, float64(len(b.named))), 1-leastShare))
	s := r.Sample
	if s == nil {
		s = &Sample{partition: layout.Partition{Index: layout.All}}
	}
	var inRatings [comment.MaxRating]float64
	for i, one := range likelyRatings {
		if len(filter.Ratings) == 0 || slices.Contains(filter.Ratings, i+1) {
			inRatings[i] = one
		}
	}
	rated := sum(inRatings[:])
	scale(inRatings[:], 1)
	inLanguages, named := []float64{1}, 1.0
	if len(b.named) > 0 {
		inLanguages, named = slices.Clone(b.named), sum(b.named)
		scale(inLanguages, 1)
	}
	b.scanned, b.sampled = float64(s.scanned), b.shareOf(s.partition)
	b.ratings, b.languages = ratingsAlike*rated, languagesAlike*named
	for i := range inRatings {
		inRatings[i] = posterior(inRatings[i], b.ratings, s.ratings[i], s.returned)
	}
	for i, language := range filter.Languages {
		inLanguages[i] = posterior(inLanguages[i], b.languages, s.languages[language], s.returned)
	}
	before, traits := min(rated*named/b.sampled, 1), likelyTraits(filter)
	list := posterior(before*traits, b.prior(s.partition.Index), s.returned, s.scanned)
	if before == 1 || list > traits {
		traits = list / before // the sample tells more, or the share cannot be lower
	}
	cells := min(list/traits, 1) // whatever the traits
	b.shares = b.fill(s.partition, b.sampled*cells, (1-cells)/max(1-before, leastShare), inRatings, inLanguages)
	b.shares.list(traits)
	b.list, _ = b.shares.wanted(new(wholeProduct(filter)))
	b.ratings, b.languages = b.ratings+float64(s.returned), b.languages+float64(s.returned)
	b.sizes = likelyComments.toRead(r, filter, float64(b.list)/shareTotal, b.sampled)
	return b
}

// weight returns how certain the share of the list in a part is, in comments.
func (b *belief) weight(part *Part, s share) float64 {
	return b.prior(part.Index) + b.scanned*min(1, float64(s.held)/shareTotal/b.sampled)
}

// prior returns how certain that share is before the sample.
func (b *belief) prior(index layout.Index) float64 {
	if index.SplitsByLanguage() || len(b.named) == 0 {
		return ratingsAlike
	}
	return languagesAlike // which is less
}

// shareOf returns the share of the product in the partition of a sample.
func (b *belief) shareOf(partition layout.Partition) float64 {
	switch {
	case partition.Index.SplitsByLanguage():
		return sum(b.named) // a list in one language
	case partition.Index.SplitsByRating():
		return likelyRatings[partition.Rating-1]
	}
	return 1
}

// fill returns the shares of all cells. list is the share of the list in the product. others is a
// factor for the shares of cells that are in the partition but not in the list.
func (b *belief) fill(partition layout.Partition, list, others float64, inRatings [comment.MaxRating]float64, inLanguages []float64) (shares grid) {
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
	if len(b.named) == 0 {
		shares.all = row(comment.OtherLanguages, 1, 1)
		return shares
	}
	shares.all = row(comment.OtherLanguages, 0, 1-sum(b.named))
	for i, language := range b.filter.Languages {
		shares.add(language, row(language, inLanguages[i], b.named[i]))
	}
	return shares
}

// list sets the listed counts: the list allows the traits of a comment with the given probability.
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

// spread returns two variances for n comments of the list: of the number that is in a part, and of
// the number of other comments between these. wanted and others are the variances for exact shares;
// spread adds the uncertainty of the shares.
func (b *belief) spread(part *Part, s share, n, wanted, others float64) (float64, float64) {
	known := b.ratings
	if part.Index.SplitsByLanguage() {
		known = b.languages
		if part.Index.SplitsByRating() {
			known = min(known, b.ratings)
		}
	}
	wanted *= 1 + (n-1)/(known+1) // of a Dirichlet-multinomial distribution
	if s.held > s.wanted {
		in := float64(s.wanted) / float64(s.held)
		held := b.weight(part, s)
		between := n * float64(s.held-s.wanted) / float64(s.matches)
		others += between * between * min(2, 1/(held*in+1)+1/(held*(1-in)+1)) // of the odds of a beta distribution
	}
	return wanted, others
}
