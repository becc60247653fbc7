package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// Plan says how a stretch of a list is read. It is immutable.
type Plan struct {
	Product string
	Filter  comment.Filter
	// Purpose is why the stretch is read.
	Purpose comment.ReadPurpose
	// Low and High bound the sort key, both inclusive. If Low is above High, nothing is read.
	Low, High comment.Place
	// ByVotes is whether comments are read in the order of their net votes, from an index in that
	// order.
	ByVotes bool
	// Descending reads from High down, which is newest first.
	Descending bool
	// Want is how many comments to take from the merged reads; 0 if all are counted.
	Want int
	// Why is the reason for reading this stretch, for people; "" if it is the whole list.
	Why string
	// WithoutText leaves out the texts of the comments. Such reads cost the same and transfer less.
	WithoutText bool
	// Reads are made in parallel, one for each partition.
	Reads []Read
	// Chosen is the cover that is read, with estimates if Estimated; zero if nothing is read.
	Chosen Candidate
	// candidates are the covers that could be read, the chosen one first. estimator priced them; it
	// is nil if there was no choice.
	candidates []Candidate
	estimator  *estimator
	// Likely is whether the product's statistics are unknown, so the plan is based on assumptions.
	// After the first call of a read with a residual filter, another plan reads the rest: see Rest.
	Likely bool
	// Partial is whether the stretch may be any part of the list: it begins at a cursor or is bounded
	// by dates.
	Partial bool
	// Sampled is how many comments the sample scanned on which this plan is based; 0 if there was
	// none.
	Sampled int
	// Remembered is whether the limits are based on what the page held when it was last read.
	Remembered bool
	// Sparse is whether few comments of the list's partitions are in the list, because nearly all
	// have helpful votes.
	Sparse bool
	// Narrowed is whether the plan replaces an attempt that was given up, just now or recently.
	Narrowed bool
	// InSteps is whether each call of a read scans at most twice as many items as the one before.
	InSteps bool
	// Empty has partitions of the cover that are not read, because they are known to hold no
	// comment of the list.
	Empty []layout.Partition
	// Known is the knowledge of the product that the plan is based on.
	Known Knowledge
	// ByRank is whether comments are found by the index of page numbers and fetched by id; Reads is
	// then empty. Ranks is the price of that; nil if it is not possible.
	ByRank bool
	Ranks  *RankPrice
}

// Read is the first read of one partition.
type Read struct {
	Part
	// Limit is how many items the first call scans; 0 for all.
	Limit int
}

// Candidates returns the covers that could be read, the chosen one first; none if nothing is read.
func (p Plan) Candidates() []Candidate {
	if p.ByRank {
		return append([]Candidate{p.Chosen}, p.candidates...)
	}
	return p.candidates
}

// Estimated reports whether the candidates have estimates. They have none if there was no choice.
func (p Plan) Estimated() bool { return p.estimator != nil }

// NextLimit returns the Limit of a read's next call. scanned and returned count the items of the
// calls so far, and last is the Limit of the latest. missing is how many comments the read still
// has to bring. It extrapolates the share of scanned items that were returned so far. If none were,
// it doubles the limit. A read with a residual filter uses up the read units that it pays for
// anyway.
func (p Plan) NextLimit(read Read, last, scanned, returned, missing int) int {
	limit := 2 * last
	if returned > 0 {
		limit = (missing*scanned + returned - 1) / returned
	}
	limit = max(1, min(limit, MaxLimit))
	if size := p.Known.Sizes.Of(read.Partition); read.Residual() && size.Mean > 0 {
		limit = min(max(limit, size.fitting(limit)), MaxLimit)
	}
	if p.InSteps {
		limit = min(limit, 2*last)
	}
	return limit
}

// Wide reports whether any read is wide.
func (p *Plan) Wide() bool { return slices.ContainsFunc(p.Reads, p.WideRead) }

// WideRead reports whether a read of the plan is wide: its residual filter drops comments for other
// reasons than helpful votes. Comments with helpful votes are in all partitions.
func (p *Plan) WideRead(read Read) bool {
	return p.Sparse || slices.ContainsFunc(read.Conditions, func(c comment.Condition) bool { return c.Attribute != comment.OfVotes })
}

// Narrows reports whether reads with a residual filter can be replaced: by reads of narrower
// partitions or, if the list is restricted to traits, by ranks.
func (p *Plan) Narrows() bool { return !p.restricted() || p.Ranks != nil }

// restricted reports whether a list is restricted to rare traits. Having no helpful votes is not
// rare, unless the list is sparse.
func (p *Plan) restricted() bool { return p.Sparse || restricted(p.Filter) }

func restricted(list comment.Filter) bool {
	if list.Helpful != nil && !*list.Helpful {
		list.Helpful = nil
	}
	return list.MayMatchFew()
}

// Few reports whether a list is sparse: less than one in fewOf of the scanned comments, among in
// number, were found to be in it.
func Few(found, among int) bool { return found*fewOf < among }

// fewOf bounds sparse lists. Reading a page of one takes twice the estimated units.
const fewOf = 4

// LowKey returns the lower bound of the sort key, nil if there is none.
func (p *Plan) LowKey() *string {
	if p.Low.Position == (comment.Position{}) && p.Low.Key <= 1 {
		return nil
	}
	return new(p.index().SortKey(p.Low))
}

// HighKey returns the upper bound of the sort key, nil if there is none.
func (p *Plan) HighKey() *string {
	if p.High.Position == comment.MaxPosition && (p.High.Key == 0 || p.High.Key == comment.MaxKey) {
		return nil
	}
	return new(p.index().SortKey(p.High))
}

// index returns an index with the sort keys of the plan.
func (p *Plan) index() layout.Index {
	if p.ByVotes {
		return layout.ByHelpful
	}
	return layout.All
}

// PlaceOf returns the place of a comment among those that the plan reads.
func (p *Plan) PlaceOf(c comment.Comment) comment.Place {
	if p.ByVotes {
		return comment.MostHelpful.PlaceOf(c)
	}
	return comment.Place{Position: c.ID.Position()}
}

// Spans reports whether a position may lie in the stretch of the plan. By votes, any may.
func (p *Plan) Spans(position comment.Position) bool {
	return p.ByVotes || position.Compare(p.Low.Position) >= 0 && position.Compare(p.High.Position) <= 0
}

// Within reports whether a place lies in the stretch that was read, up to last; last is nil if the
// stretch was read to its end.
func (p *Plan) Within(place comment.Place, last *comment.Place) bool {
	return place.Compare(p.Low) >= 0 && place.Compare(p.High) <= 0 && (last == nil || p.Compare(place, *last) <= 0)
}

// Compare compares places in the direction of reading: it is negative if a is read before b.
func (p *Plan) Compare(a, b comment.Place) int {
	if p.Descending {
		return b.Compare(a)
	}
	return a.Compare(b)
}

// Direction compares positions in the direction of reading by date.
func (p *Plan) Direction(a, b comment.Position) int {
	return p.Compare(comment.Place{Position: a}, comment.Place{Position: b})
}

// String describes the plan in words: the comments wanted, the chosen cover, and a line for each
// partition.
func (p Plan) String() string {
	var b strings.Builder
	if p.Purpose == comment.ReadCount {
		fmt.Fprintf(&b, "%s: all comments of product %q", purposeText[p.Purpose], p.Product)
	} else {
		order := "oldest first"
		if p.Descending {
			order = "newest first"
		}
		fmt.Fprintf(&b, "%s: up to %s of product %q, %s", purposeText[p.Purpose], comment.Amount(p.Want, "comment"), p.Product, order)
	}
	from, to := p.LowKey(), p.HighKey()
	if from != nil {
		b.WriteString(", from " + *from)
	}
	if to != nil {
		b.WriteString(", up to " + *to)
	}
	if p.Why != "" {
		b.WriteString("\n  " + p.Why)
	}
	b.WriteString(p.choiceText())
	if p.ByRank {
		b.WriteString("\n  find them by their ranks in the index of page numbers, and fetch them by id: nothing between them is read")
	} else if len(p.Reads) == 0 {
		b.WriteString("\n  nothing to read")
	}
	for _, read := range p.Reads {
		verb := "count"
		if read.Limit > 0 {
			verb = fmt.Sprintf("read %d of", read.Limit)
		}
		fmt.Fprintf(&b, "\n  %s %s in %s", verb, read.Partition.Key(p.Product), read.Partition.Index)
		for _, condition := range read.Conditions {
			fmt.Fprintf(&b, ", residual filter: %s %v", condition.Attribute, condition.Values)
		}
	}
	why := "empty"
	if from != nil {
		why = "nothing that new"
	}
	for _, partition := range p.Empty {
		fmt.Fprintf(&b, "\n  skip %s in %s: %s by statistics of %v ago",
			partition.Key(p.Product), partition.Index, why, p.Known.Age.Round(time.Millisecond))
	}
	return b.String()
}

// choiceText names the candidates and says why the first was chosen.
func (p Plan) choiceText() string {
	if p.Narrowed {
		return "\n  by " + p.Chosen.Name +
			", because a cheaper attempt was given up: it returned too few comments"
	}
	candidates := p.Candidates()
	if len(candidates) < 2 {
		return ""
	}
	var b strings.Builder
	for i, candidate := range candidates {
		b.WriteString([]string{"\n  by ", ", not by "}[min(i, 1)] + candidate.Name)
		if p.Estimated() {
			fmt.Fprintf(&b, " (about %.1f units, price %.1f)", candidate.Units, candidate.Price)
		}
	}
	switch { // what the choice is based on, if not on statistics
	case !p.Estimated():
		b.WriteString(": it is one partition that holds nothing else")
	case !p.Likely:
	case p.Sampled > 0:
		fmt.Fprintf(&b, ": without statistics, estimated from the first %s", comment.Amount(p.Sampled, "comment"))
	default:
		b.WriteString(": without statistics, estimated for a typical product")
	}
	if p.Remembered {
		b.WriteString("; limits follow the last read of this page")
	}
	return b.String()
}

var purposeText = map[comment.ReadPurpose]string{
	comment.ReadPage:  "for the page and its neighbours",
	comment.ReadSkip:  "to get past the comments before the page",
	comment.ReadProbe: "to see whether anything lies beyond a cursor",
	comment.ReadCount: "for the count of the whole list",
}
