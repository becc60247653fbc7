package planner

import (
	"math"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// The estimates of this file do not depend on knowledge of a product. The cost bound of a page or a
// count is a multiple of them.

// narrowUnits returns the cost in read units of reading want comments of a list, if no comment has
// more than 1 KB. It assumes partitions that hold the list, and in the usual proportion comments
// with other traits.
func narrowUnits(filter comment.Filter, want int) float64 {
	parts, others := narrowParts(filter), 0
	if ofHelpful(filter) { // their index holds all languages, ratings and dates
		parts = 1
		if filter.Helpful = nil; len(filter.Conditions()) > 0 || filter.Dated() {
			others = min(want*othersBetween, comment.MaxPageSize*othersBetween)
		}
	}
	if filter.WithMedia != nil && *filter.WithMedia {
		filter.WithMedia = nil // comments with media have an index
	}
	want = max(others, int(math.Ceil(float64(want)/likelyTraits(filter))))
	if inSteps(parts, want) {
		return unitsInSteps(parts, want)
	}
	return unitsAtOnce(parts, want)
}

// othersBetween is the assumed number of comments with helpful votes that are read for each one
// that the filter allows, unless its traits are rarer.
const othersBetween = 4

// PageEstimate returns the estimated cost of one page of a list, in read units: the cost of reading
// the page from partitions that hold nothing else, and a share of the cost of skipping comments
// before the page, or of finding comments by rank. The filter must be normalized. Reading stops at
// layout.BoundFactor times the estimate.
//
// In the order of votes, comments without votes may be few among many others, and are then found by
// rank. All pages but the first may reach them. Their estimate has a share of 1/BoundFactor of that
// cost, so their bound has room for all of it.
func PageEstimate(q comment.Query) float64 {
	units, links := AttemptEstimate(q), q.Order.Links(q.Filter)
	further := q.Slice.After != nil || q.Slice.FromEnd || q.Slice.Page > 1
	if q.Order == comment.MostHelpful && len(links) > 1 && further && !mayRank(q) {
		var s Stretch
		others := comment.Query{Filter: links[1].Filter, Order: q.Order.Dated()}
		units += rankUnits(others, s.Want(q.Slice.Size)) / layout.BoundFactor
	}
	return units
}

// AttemptEstimate returns PageEstimate without the extra for ranks in the order of votes. It bounds
// attempts to read a page: with the extra, an attempt could cost nearly as much as ranks.
func AttemptEstimate(q comment.Query) float64 {
	var s Stretch
	want := s.Want(q.Slice.Size)
	units := ListUnits(q, want) + skipShare*SkipUnits(q)
	if mayRank(q) {
		units += rankShare * rankUnits(q, want)
	}
	return units
}

// ListUnits returns the cost in read units of reading want comments of a list, link after link.
// Like narrowUnits, it assumes comments of at most 1 KB. Each link may turn out to be empty.
func ListUnits(q comment.Query, want int) float64 {
	one, most, further := 0.0, 0.0, 0.0
	for _, link := range q.Order.Links(q.Filter) {
		one = narrowUnits(link.Filter, 1)
		further += one
		most = max(most, narrowUnits(link.Filter, want)-one)
	}
	return most + further
}

// CountEstimate returns the estimated cost of counting a list within a range of dates, in read
// units. The filter must be normalized. Counting stops at layout.BoundFactor times the estimate.
func CountEstimate(q comment.Query) float64 {
	list := Planner{Filter: q.Filter}
	list.Filter.CreatedAfter, list.Filter.CreatedBefore = nil, nil // no range is too short to be read
	reads := len(list.Count(q.Count).Reads)
	return float64(reads) * layout.EventualUnits(assumedCounted*layout.AssumedItemBytes/reads)
}

// assumedCounted is how many comments a counted range of dates is assumed to hold. Most products
// have fewer in all. A range of years in a product with thousands costs more than the estimate, up
// to the bound.
const assumedCounted = 400

// MaxSkip is how many comments before a page by number are read and skipped at most. A list of at
// most MaxSkip comments needs no index.
const MaxSkip = 256

// MostSkip returns how many comments may be skipped before a page of the list: fewer than MaxSkip
// if they may have to be found by ranks, where each costs some ten times as much.
func (p *Planner) MostSkip() int {
	if p.RanksHelp() {
		return MaxSkip / 4
	}
	return MaxSkip
}

// skipShare is the part of the price of skipping comments that is in the estimate of a page. The
// bound of the page is BoundFactor (8) times the estimate. It has room for an attempt of half the
// price, and for up to twice the price after it.
const skipShare = 1.0 / 3

// SkipUnits returns what reading the comments before a page by number may cost in read units, as
// ListUnits.
func SkipUnits(q comment.Query) float64 {
	if q.Slice.Rank() == 0 {
		return 0
	}
	return ListUnits(q, min(q.Slice.Rank(), MaxSkip))
}

// LookupEstimate returns the estimated cost of looking up places of a list in an index, in read
// units. Each lookup reads some items, and half of a leaf for each place, because neighbours share
// leaves. For a chain, its counts are looked up first, and then places in each link that has any.
// Places among comments with helpful votes are found by reading.
func LookupEstimate(q comment.Query, places int) float64 {
	lookups, through := 1, 0.0
	if links := len(q.Order.Links(q.Filter)); links > 1 {
		lookups += min(links, places)
	}
	if q.Order == comment.MostHelpful {
		through = VotedEstimate(q, q.Slice.Rank()+places/2*max(q.Slice.Size, comment.DefaultPageSize))
		through = min(through, VotedEstimate(q, comment.MaxVotedRank)/layout.BoundFactor) // reading deeper has that bound
	}
	return float64(4*lookups+places) + through
}

// VotedEstimate returns the estimated cost, in read units, of reading the comments with helpful
// votes up to a rank.
func VotedEstimate(q comment.Query, rank int) float64 {
	return narrowUnits(comment.MostHelpful.Links(q.Filter)[0].Filter, min(rank, comment.MaxVotedRank))
}

// rankUnits returns what taking comments by rank may cost in read units, including a look beyond
// both ends of the page. That is two lookups for the page and for each end, one for each further
// link, and 1.5 units for each comment.
func rankUnits(q comment.Query, want int) float64 {
	dated := comment.Query{Filter: q.Filter, Order: q.Order.Dated()} // ranks are those by date in every order
	lookup, links := LookupEstimate(dated, 0), len(q.Order.Links(q.Filter))
	return 6*lookup + float64(links-1)*lookup + 1.5*float64(want)
}

// mayRank reports whether comments of a list may be found by rank. A list by date whose only
// condition is pictures or videos has an index, and needs no ranks.
func mayRank(q comment.Query) bool {
	media := q.Filter.WithMedia != nil && *q.Filter.WithMedia
	return q.Filter.MayMatchFew() && !ofHelpful(q.Filter) && (!media || q.Order.Keyed() || len(q.Filter.Conditions()) > 1)
}

// rankShare is the part of rankUnits that is in the estimate of a page. The bound of the page is
// BoundFactor (8) times the estimate; an attempt may have used up two of the eight.
const rankShare = 1.0 / 4
