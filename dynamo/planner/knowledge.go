package planner

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Knowledge is the knowledge of a product when a plan is made. The zero value knows nothing.
type Knowledge struct {
	// Stats has the counts by language and rating; nil if unknown.
	Stats comment.Stats
	// AsOf is a time up to which all changes are counted.
	AsOf time.Time
	// Age is the time since AsOf.
	Age time.Duration
	// Trusted is whether counts and positions are recent enough to skip partitions.
	Trusted bool
	// Newest has the positions of the newest comments; nil if unknown.
	Newest *layout.Bounds
	// Sizes has the sizes of recently read comments, zero if none were read.
	Sizes Sizes
}

// empty reports whether a filter is known to allow no comment. Languages that share one row of the
// statistics ("other languages") are never known to be empty while the row has comments.
func (k *Knowledge) empty(filter comment.Filter) bool {
	return k.Trusted && k.Stats.AtMost(filter) == comment.Counts{}
}

// older reports whether all comments that a filter allows are known to be older than a position.
func (k *Knowledge) older(filter comment.Filter, than comment.Position) bool {
	return than != (comment.Position{}) && k.Trusted && k.Newest != nil && k.Newest.Of(filter, k.Stats).Compare(than) < 0
}

// counts returns the counts to plan a list with, nil if there are none. It ignores untrusted counts
// by which the list is empty: the product is probably new and not counted yet.
func (k *Knowledge) counts(filter comment.Filter) comment.Stats {
	switch {
	case k.Stats == nil && k.Trusted:
		return comment.Stats{}
	case k.Trusted, k.Stats.AtMost(filter).Total() > 0:
		return k.Stats
	}
	return nil
}

// LikelySizes returns the sizes of the product's comments, or typical ones if they are unknown.
func (k *Knowledge) LikelySizes() Sizes {
	if k.Sizes.Any.Mean > 0 {
		return k.Sizes
	}
	return Sizes{Any: unknownSize}
}

// assumed returns the cost of reading comments in read units: by their known sizes, or else at 1 KB
// each.
func (k *Knowledge) assumed(comments int) float64 {
	if k.Sizes.Any.Mean > 0 {
		return k.Sizes.Any.expected(comments)
	}
	return layout.AssumedUnits(comments)
}

// Within returns how many comments each of several calls may scan, if all calls together may cost
// the given read units: comments of 1 KB, or of their known size if that is more.
func (k *Knowledge) Within(units float64, calls int) int {
	most := layout.ItemsWithin(units, calls)
	if size := k.Sizes.Any; size.Mean > layout.AssumedItemBytes {
		most = min(most, max(0, size.within(2*max(0, units)/float64(calls)*layout.UnitBytes)))
	}
	return most
}

// Assumptions about an unknown product. They suit a shop in which most products have a handful of
// comments and some have thousands: there, plans for unknown products cost least on average. In
// other shops plans cost more read units, but show the same comments.

// likelyComments is the distribution of the number of comments of a product. Each product is
// weighted by how often clients query it while nothing is known of it.
var likelyComments = likelySizes{
	{1, .30}, {2, .15}, {3, .10}, {4, .07}, {5.5, .09}, {7.5, .06}, {10.5, .06}, {14.5, .04}, {20.5, .035}, {28.5, .02},
	{40.5, .018}, {56.5, .012}, {80.5, .011}, {112.5, .007}, {160.5, .006}, {224.5, .005}, {320.5, .004}, {448.5, .003},
	{768.5, .003}, {1536.5, .002}, {3072.5, .001}, {6144.5, .001}, {12288.5, .001}, {24577.5, .001},
}

// likelyRatings are the mean shares of the ratings among a product's comments, beginning with
// rating
// 1. Two thirds of the comments have five stars, and there is more anger than indifference.
var likelyRatings = [comment.MaxRating]float64{.09, .05, .08, .17, .61}

// LikelyRatings returns the mean shares of the ratings, beginning with rating 1.
func LikelyRatings() [comment.MaxRating]float64 { return likelyRatings }

const (
	// ratingsAlike says how alike products are in their ratings: the mean shares count as much as
	// this number of comments of the product itself. It is the concentration of a Dirichlet
	// distribution: if the share of a rating has mean m and variance v, it is m(1-m)/v - 1.
	ratingsAlike = 8
	// likelyLanguage is the mean share of a language that a query names.
	likelyLanguage = .4
	// languagesAlike says how alike products are in their languages, as ratingsAlike. It is low, as
	// most products have comments in one language only.
	languagesAlike = 1
)

// likelyTraits returns the mean share of comments whose traits a filter allows, among those that
// meet its other conditions.
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

// likelySize is a number of comments and its probability.
type likelySize struct{ comments, probability float64 }

// likelySizes has numbers of comments, ascending, whose probabilities add up to 1.
type likelySizes []likelySize

// toRead returns the likely numbers of comments of the product that are left to read for a request.
// share is the list's share of the product, and sampled is the share of the partition that the
// request's sample was read from. A stretch behind a cursor, or within a range of dates, may be any
// part of the product.
func (l likelySizes) toRead(r Request, filter comment.Filter, share, sampled float64) likelySizes {
	l = slices.Clone(l)
	if before := r.before(); before > 0 {
		l = l.above(float64(before) / max(share, 0.1)) // if the share is smaller, it is probably underestimated
	}
	if r.partial(filter) { // assume a quarter or three quarters of each size
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

// above returns the sizes above a number, or if there are none, twice that number.
func (l likelySizes) above(least float64) likelySizes {
	first := slices.IndexFunc(l, func(size likelySize) bool { return size.comments > least })
	if first < 0 {
		return likelySizes{{2*least + 1, 1}}
	}
	return l[first:]
}

// ItemSize is the size of items of an index: mean and standard deviation, in bytes.
type ItemSize struct{ Mean, Deviation float64 }

// unknownSize is assumed until an item of the product was read: 200 bytes of keys and short
// attributes, and a text of some 50 words.
var unknownSize = ItemSize{Mean: 512, Deviation: 256}

// Sizes has the item sizes of a product. Zero values are unknown.
type Sizes struct {
	// Any is the size of an item of any rating.
	Any ItemSize
	// ByRating has the sizes by rating, beginning with rating 1. Texts of bad ratings tend to be
	// longer.
	ByRating [comment.MaxRating]ItemSize
}

// Of returns the size of the items in a partition.
func (s *Sizes) Of(partition layout.Partition) ItemSize {
	if partition.Rating == 0 || s.ByRating[partition.Rating-1].Mean == 0 {
		return s.Any
	}
	return s.ByRating[partition.Rating-1]
}

// fitting returns how many items fit into the read units that scanning the given items is expected
// to consume. DynamoDB rounds units up, so the additional items cost nothing.
func (s ItemSize) fitting(items int) int {
	return s.within(math.Ceil(float64(items)*s.Mean/layout.UnitBytes) * layout.UnitBytes)
}

// within returns how many items probably fit into the given bytes.
func (s ItemSize) within(bytes float64) int {
	return int((bytes - s.Deviation*math.Sqrt(bytes/s.Mean)) / s.Mean)
}

// expected returns the expected cost of scanning items in one call, in read units: half a unit for
// each started 4 KB.
func (s ItemSize) expected(items int) float64 {
	mean, deviation := float64(items)*s.Mean, math.Sqrt(float64(items))*s.Deviation
	if deviation > layout.UnitBytes {
		return (mean/layout.UnitBytes + 0.5) / 2 // any remainder is as likely as any other
	}
	first := max(1, int((mean-3*deviation)/layout.UnitBytes))
	units := float64(first)
	for n := first; ; n++ {
		bytes := float64(n * layout.UnitBytes)
		if bytes > mean+2.7*deviation {
			return units / 2
		}
		p := above(bytes, mean, deviation)
		if p < 0.005 {
			return units / 2
		}
		units += p
	}
}
