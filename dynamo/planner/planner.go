// Package planner decides how a page or a count is read: from which partitions of which index, and
// how many items of each. It leaves out partitions that are known to be empty.
//
// A filter by languages and ratings is a rectangle of the language x rating grid. A [Cover] is a
// set of partitions that together hold each cell of the rectangle once. For example, "German or
// English, 4 or 5 stars" is covered by two partitions of languages, by two of ratings, by four
// cells, or by the whole product. All but the cells also hold comments that the filter excludes. A
// residual filter drops those, but reading them costs units.
//
// A [Planner] estimates the price of each cover from its [Knowledge] of the product, or from
// assumptions about products, and takes the cheapest. After a read that was not enough, the rest
// may be planned anew with what it has shown: see [Plan.Rest]. A [Plan] is a pure function of the
// planner and a [Request]: nothing is read and nothing is remembered. Package dynamo carries plans
// out. Wrong estimates cost read units, never comments.
//
// Conditions on traits are in the residual filter of nearly every part, and counts show how many
// comments meet them. If these are few, a plan by ranks takes comments that the index of page
// numbers finds, and reads nothing between them: see [RankPrice].
//
// Start with planner.go, then covers.go, candidates.go and estimator.go; belief.go has the
// assumptions.
package planner

import (
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Planner plans the reads of one list: the comments of a product that a filter allows.
type Planner struct {
	Product string
	// Filter selects the comments of the list. It must be normalized.
	Filter comment.Filter
	Known  Knowledge
	// Ranks is the price of finding comments by rank, for a list that is restricted to traits. It
	// is nil if that is not possible.
	Ranks *RankPrice
	// Counted is how many comments the list has by the index of page numbers; 0 if it was not asked.
	Counted int
	// Sparse is whether a read showed that nearly all comments have helpful votes.
	Sparse bool
}

// Take plans to read a stretch of the list from the cover with the lowest expected price.
func (p *Planner) Take(r Request) Plan {
	plan := p.taking(r)
	if r.Window.empty() || r.Want == 0 {
		return plan
	}
	if alone(p.Filter) && p.Known.counts(p.Filter) == nil {
		// One partition holds the list and nothing else. No plan is cheaper, whatever the counts.
		plan.candidates = covers(p.Filter)
		plan.Chosen = plan.candidates[0]
		p.read(&plan, []int{min(plan.Want, MaxLimit)})
		return plan
	}
	e := newEstimator(p.Known, p.Filter, r)
	candidates, limits := e.choose()
	plan.candidates, plan.estimator, plan.Chosen = candidates, e, candidates[0]
	plan.Likely, plan.Remembered = e.belief != nil && !plan.ByVotes, r.Last.current(r.Want)
	p.read(&plan, limits)
	return plan
}

// Attempt plans as Take does. A plan with wide reads is an attempt, which may fail. Its limits keep
// the cost of its first calls within the given read units, if no comment has more than 1 KB. If the
// units are too few for that, Attempt returns the narrow plan, or a plan by ranks if the list is
// restricted to traits. It also returns a plan by ranks if that is known to cost less.
func (p *Planner) Attempt(r Request, units float64) Plan {
	plan := p.Take(r)
	fits := units >= float64(len(plan.Reads))/2 // a call costs at least half a unit
	switch {
	case !plan.Wide() || ofHelpful(p.Filter):
		return plan
	case plan.restricted() && p.Ranks == nil:
		return plan
	case plan.restricted() && (!fits || p.ranksAreCheaper(&plan, r, units)):
		ranked := p.taking(r)
		ranked.ByRank, ranked.Narrowed = true, !fits
		ranked.estimator, ranked.candidates, ranked.Likely = plan.estimator, plan.candidates, false
		if ranked.Chosen = (Candidate{Name: byRankName}); ranked.Estimated() {
			ranked.Chosen = p.Ranks.candidate(r, plan.estimator)
		}
		return ranked
	case !fits:
		return p.Narrow(r)
	}
	assumed := 0.0
	for _, read := range plan.Reads {
		assumed += layout.AssumedUnits(read.Limit)
	}
	if assumed > units {
		most := layout.ItemsWithin(units, len(plan.Reads))
		for i := range plan.Reads {
			plan.Reads[i].Limit = max(1, min(plan.Reads[i].Limit, most)) // each call scans at least one item
		}
	}
	return plan
}

// ranks returns the price of finding comments by rank. It is nil in the order of votes, in which
// the index has no ranks.
func (p *Planner) ranks() *RankPrice {
	if ofHelpful(p.Filter) {
		return nil
	}
	return p.Ranks
}

// RanksHelp reports whether reads for this list would drop most of what they scan, and ranks are
// available instead.
func (p *Planner) RanksHelp() bool { return p.Ranks != nil && (restricted(p.Filter) || p.sparse(nil)) }

// sparse reports whether a list is known to have few comments because nearly all of the product
// have helpful votes.
func (p *Planner) sparse(sample *Sample) bool {
	if p.Filter.Helpful == nil || *p.Filter.Helpful {
		return false
	}
	if p.Sparse || sample != nil {
		return p.Sparse || sample.sparse
	}
	all := p.Filter
	all.Helpful = nil
	stats := p.Known.counts(all)
	return stats != nil && Few(stats.AtMost(p.Filter).Total(), stats.AtMost(all).Total())
}

// ranksAreCheaper reports whether finding comments by ranks costs less than the reads of a plan,
// which may cost the given units. It uses counts, or the sample of an earlier read. Before any read
// it uses only trusted counts, because the index may lack the latest comments.
func (p *Planner) ranksAreCheaper(plan *Plan, r Request, units float64) bool {
	e := plan.estimator
	if e == nil || r.Sample == nil && (e.belief != nil || !p.Known.Trusted) {
		return false
	}
	if r.Sample != nil && r.Sample.second {
		return true // each further wave would bring less
	}
	through := e.through(plan.Chosen.Cover)
	return through > units || through > p.Ranks.candidate(r, e).Price
}

// Narrow plans to read a stretch from the narrowest partitions. It is for the rest of a stretch
// after an attempt was given up.
func (p *Planner) Narrow(r Request) Plan {
	plan := p.taking(r)
	plan.Narrowed = true
	plan.candidates = covers(p.Filter)[:1]
	plan.Chosen = plan.candidates[0]
	parts := len(plan.Chosen.Cover)
	limit := min(r.Want, MaxLimit)
	if plan.InSteps = inSteps(parts, r.Want); plan.InSteps {
		limit = min(r.Want, layout.ItemsPerHalfUnit)
	}
	p.read(&plan, slices.Repeat([]int{limit}, parts))
	return plan
}

// Count plans to count the whole list. For counts by rating, each partition holds one rating only.
func (p *Planner) Count(counting comment.Counting) Plan {
	w := datedWindow(p.Filter, false)
	plan := p.plan(w, comment.ReadCount)
	if w.empty() {
		return plan
	}
	candidates := covers(p.Filter)
	if counting == comment.CountByRating {
		rated := p.Filter
		if len(rated.Ratings) == 0 {
			for rating := 1; rating <= comment.MaxRating; rating++ {
				rated.Ratings = append(rated.Ratings, rating)
			}
		}
		candidates = slices.DeleteFunc(covers(rated), func(c Candidate) bool {
			return !c.Cover[0].Index.SplitsByRating()
		})
	}
	// A count scans whole partitions, so it takes those with the fewest other comments: the first
	// cover with few enough parts. The whole product is one part, so there always is one.
	plan.Chosen = candidates[slices.IndexFunc(candidates, func(c Candidate) bool { return len(c.Cover) <= maxReads })]
	p.read(&plan, make([]int, len(plan.Chosen.Cover)))
	return plan
}

// taking returns the plan for a request, still without reads.
func (p *Planner) taking(r Request) Plan {
	plan := p.plan(r.Window, r.Purpose)
	plan.Want, plan.WithoutText, plan.Partial, plan.Why = r.Want, r.WithoutText, r.partial(p.Filter), r.Why
	if plan.Sparse = p.sparse(r.Sample); r.Sample != nil {
		plan.Sampled = r.Sample.scanned
	}
	return plan
}

// plan returns a plan for a window without any reads.
func (p *Planner) plan(w Window, purpose comment.ReadPurpose) Plan {
	return Plan{
		Product: p.Product, Filter: p.Filter, Purpose: purpose, Low: w.low, High: w.high, Descending: w.descending, ByVotes: w.byVotes,
		Known: p.Known, Ranks: p.ranks(),
	}
}

// read adds the reads of the chosen cover to a plan, each with its limit. It leaves out partitions
// that are known to hold no comment of the plan's range.
func (p *Planner) read(plan *Plan, limits []int) {
	plan.Reads = make([]Read, 0, len(limits))
	oldest := plan.Low.Position
	if plan.ByVotes {
		oldest, _ = p.Filter.Range()
	}
	for i, part := range plan.Chosen.Cover {
		if wanted := part.wanted(p.Filter); p.Known.empty(wanted) || p.Known.older(wanted, oldest) {
			plan.Empty = append(plan.Empty, part.Partition)
			continue
		}
		plan.Reads = append(plan.Reads, Read{Part: part, Limit: limits[i]})
	}
}

// Rest returns the planner and the request for the rest of a read of this plan, after a first call
// that was not enough. The read is in the order of dates and got as far as reached. scanned is the
// number of comments that the call scanned, and returned has the cells of those that it returned.
// sizes are the current sizes of comments, and want is how many more comments the read may have to
// return.
func (p Plan) Rest(read Read, reached comment.Position, scanned int, returned []comment.Cell, sizes Sizes, want int) (Planner, Request) {
	s := &Sample{partition: read.Partition, partial: p.Partial, second: p.Sampled > 0, scanned: max(scanned, len(returned)), languages: map[comment.Language]int{}}
	for _, cell := range returned {
		s.returned++
		s.languages[cell.Language]++
		if comment.CheckRating(cell.Rating) == nil { // an out-of-range rating (edited by hand) counts toward the total only
			s.ratings[cell.Rating-1]++
		}
	}
	s.sparse = p.Sparse || read.Unvoted() && Few(s.returned, s.scanned)
	w := Window{low: p.Low, high: p.High, descending: p.Descending}
	list := Planner{Product: p.Product, Filter: read.wanted(p.Filter), Known: p.Known}
	list.Known.Sizes, list.Ranks = sizes, p.Ranks
	return list, Request{Window: w.Past(comment.Place{Position: reached}), Purpose: p.Purpose, Want: want, WithoutText: p.WithoutText, Sample: s, Why: p.Why}
}
