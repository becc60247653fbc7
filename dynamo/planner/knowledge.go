package planner

import (
	"cmp"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Knowledge is the knowledge of a product when a plan is made. The zero value knows nothing.
type Knowledge struct {
	// Stats are the counts by language and rating, nil if they are not known.
	Stats comment.Stats
	// AsOf is a time up to which all changes are counted.
	AsOf time.Time
	// Age is the time since AsOf.
	Age time.Duration
	// Trusted is whether counts and positions are recent enough to skip partitions by.
	Trusted bool
	// Newest are the positions of the newest comments, nil if they are not known.
	Newest *layout.Bounds
	// Sizes are the sizes of comments that were read lately, zero if none were.
	Sizes Sizes
}

// empty tells whether a filter is known to allow no comment. Languages that share one row of the
// statistics ("other languages") are never known to be empty while the row has comments.
func (k *Knowledge) empty(filter comment.Filter) bool {
	return k.Trusted && k.Stats.AtMost(filter) == comment.Counts{}
}

// older tells whether all that a filter allows is known to be older than a position.
func (k *Knowledge) older(filter comment.Filter, than comment.Position) bool {
	return than != (comment.Position{}) && k.Trusted && k.Newest != nil && k.Newest.Of(filter, k.Stats).Compare(than) < 0
}

// counts returns the counts to plan a list by, nil if there are none. Counts that are not trusted
// are ignored if they say that the list is empty: the product is probably new and not counted yet.
func (k *Knowledge) counts(filter comment.Filter) comment.Stats {
	switch {
	case k.Stats == nil && k.Trusted:
		return comment.Stats{}
	case k.Trusted, k.Stats.AtMost(filter).Total() > 0:
		return k.Stats
	}
	return nil
}

// LikelySizes are the sizes of comments: those of the product, or what is likely.
func (k *Knowledge) LikelySizes() Sizes {
	if k.Sizes.Any.Mean > 0 {
		return k.Sizes
	}
	return Sizes{Any: unknownSize}
}

// assumed is the cost of reading comments in read units: by their sizes, or if they have 1 KB each.
func (k *Knowledge) assumed(comments int) float64 {
	if k.Sizes.Any.Mean > 0 {
		return k.Sizes.Any.expected(comments)
	}
	return layout.AssumedUnits(comments)
}

// Assumptions about a product that is not known. They suit a shop most of whose products have a
// handful of comments, and some thousands. Plans for such a product cost least on average. If a
// shop is of another kind, plans cost more read units, and show the same comments.

// likelyComments is the distribution of the number of comments of a product. Each product is
// weighted by how often clients ask for it while nothing is known of it.
var likelyComments = likelySizes{
	{1, .30}, {2, .15}, {3, .10}, {4, .07}, {5.5, .09}, {7.5, .06}, {10.5, .06}, {14.5, .04}, {20.5, .035}, {28.5, .02},
	{40.5, .018}, {56.5, .012}, {80.5, .011}, {112.5, .007}, {160.5, .006}, {224.5, .005}, {320.5, .004}, {448.5, .003},
	{768.5, .003}, {1536.5, .002}, {3072.5, .001}, {6144.5, .001}, {12288.5, .001}, {24577.5, .001},
}

// likelyRatings are the mean shares of the ratings among a product's comments, beginning with rating
// 1. Two thirds of the comments have five stars, and there is more anger than indifference.
var likelyRatings = [comment.MaxRating]float64{.09, .05, .08, .17, .61}

// LikelyRatings returns the mean shares of the ratings, beginning with rating 1.
func LikelyRatings() [comment.MaxRating]float64 { return likelyRatings }

const (
	// ratingsAlike says how alike products are in their ratings: the mean shares count as much as
	// this number of comments of the product itself. It is the concentration of a Dirichlet
	// distribution: if the share of a rating has mean m and variance v, it is m(1-m)/v - 1.
	ratingsAlike = 8
	// likelyLanguage is the mean share of a language that is asked for.
	likelyLanguage = .4
	// languagesAlike says how alike products are in their languages, as ratingsAlike. It is low, as
	// most products have comments in one language only.
	languagesAlike = 1
)

// likelyTraits is the mean share of comments that have traits which a filter allows, among all
// comments that it allows otherwise.
func likelyTraits(filter comment.Filter) float64 {
	share := 1.0
	allow := func(wanted *bool, likely float64) {
		switch {
		case wanted == nil:
		case *wanted:
			share *= likely
		default:
			share *= 1 - likely
		}
	}
	allow(filter.Verified, likelyVerified)
	allow(filter.WithMedia, likelyMedia)
	allow(filter.Helpful, likelyHelpful)
	return share
}

// Shares of comments with a trait.
const (
	likelyVerified = .8
	likelyMedia    = .06
	likelyHelpful  = .1
)

// likelySize is a number of comments, and how likely it is.
type likelySize struct{ comments, probability float64 }

// likelySizes are numbers of comments, ascending, whose probabilities have the sum 1.
type likelySizes []likelySize

// toRead returns the likely numbers of comments of the product that are left to read for a request.
// share is the share of the list in the product, and sampled that of the partition of the request's
// sample. A stretch behind a cursor, or within a range of dates, may be any part of the product.
func (l likelySizes) toRead(r Request, filter comment.Filter, share, sampled float64) likelySizes {
	l = slices.Clone(l)
	if before := r.before(); before > 0 {
		l = l.above(float64(before) / max(share, 0.1)) // of a smaller share, more is likely to be in the list
	}
	if r.partial(filter) { // a quarter of each size, or three quarters
		parts := make(likelySizes, 0, 2*len(l))
		for _, size := range l {
			half := size.probability / 2
			parts = append(parts, likelySize{size.comments / 4, half}, likelySize{size.comments * 3 / 4, half})
		}
		slices.SortFunc(parts, func(a, b likelySize) int { return cmp.Compare(a.comments, b.comments) })
		l = parts
	}
	if r.Sample != nil {
		read := float64(r.Sample.scanned) / sampled
		l = l.above(read)
		for i := range l {
			l[i].comments -= read
		}
	}
	total := 0.0
	for _, size := range l {
		total += size.probability
	}
	for i := range l {
		l[i].probability /= total
	}
	return l
}

// above are those sizes that are above a number; if there are none, twice that number.
func (l likelySizes) above(least float64) likelySizes {
	first := slices.IndexFunc(l, func(size likelySize) bool { return size.comments > least })
	if first < 0 {
		return likelySizes{{2*least + 1, 1}}
	}
	return l[first:]
}
