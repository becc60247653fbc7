package planner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
)

// MaxLimit bounds the limit of one call, so that a call which a residual filter keeps nothing of stays a short one.
const MaxLimit = 1000

// Plan is a way to read a list of comments: a value that says all and does nothing.
type Plan struct {
	// Product is the product whose comments are listed.
	Product string
	// Purpose is why the list is wanted.
	Purpose comment.ReadPurpose
	// Low and High bound the sort key, both included. Low above High is a plan of no reads.
	Low, High comment.Position
	// Descending reads from High down, which is newest first.
	Descending bool
	// Want is how many comments to take from the merged reads; 0 when all are counted.
	Want int
	// WithoutText has the reads leave out texts. They cost the same, and bring less.
	WithoutText bool
	// Reads are made at once, each for one partition.
	Reads []Read
	// Candidates are the covers that could be read, the chosen one first; none when nothing is read.
	Candidates []Candidate
	// Estimated is whether anything is known of the product by which the candidates' units could be estimated.
	Estimated bool
	// Remembered is whether the limits follow what the page held when it was last read.
	Remembered bool
	// Narrowed is whether this is what follows an attempt that was given up, just now or lately.
	Narrowed bool
	// Skipped are partitions of the cover in which nothing is that the filter chooses, so far as is known.
	Skipped []layout.Partition
	// Known is what is known of the product, by which cover, limits and what is skipped were chosen.
	Known Known
}

// Read is the first read of one partition.
type Read struct {
	// Part is what is read.
	Part
	// Limit is how many items the first call looks at; 0 for all.
	Limit int
}

// Planner plans the reads of one list: the comments of a product that a filter allows.
type Planner struct {
	// Product is the product whose comments are listed.
	Product string
	// Filter says which of them are listed. It must be normalized.
	Filter comment.Filter
	// Known is what is known of the product.
	Known Known
}

// Request is a stretch of a list that is to be read.
type Request struct {
	// Window is the stretch.
	Window Window
	// Purpose is why it is read.
	Purpose comment.ReadPurpose
	// Want is how many comments to take from it.
	Want int
	// WithoutText leaves out the texts of the comments.
	WithoutText bool
	// Last is what the same stretch held when it was last read, nil when that is not known.
	Last *LastPage
}

// Take plans to read a stretch of the list from the cover of the lowest expected price.
func (p Planner) Take(r Request) Plan {
	plan := p.taking(r)
	if r.Window.empty() || r.Want == 0 {
		return plan
	}
	e := p.estimator(r.Last)
	plan.Estimated, plan.Remembered = e.Stats != nil, e.last.tells(r.Want)
	plan.Candidates = e.candidates(p.Filter, r.Want)
	p.read(&plan, plan.Candidates[0].Cover)
	for i := range plan.Reads {
		plan.Reads[i].Limit = e.limit(plan.Reads[i].Part, r.Want)
	}
	return plan
}

// taking is a plan for a request, before its reads are chosen.
func (p Planner) taking(r Request) Plan {
	plan := p.plan(r.Window, r.Purpose)
	plan.Want, plan.WithoutText = r.Want, r.WithoutText
	return plan
}

// Count plans to count the whole list. For the counts of each rating, no partition may hold several.
func (p Planner) Count(counting comment.Counting) Plan {
	var w Window
	w.low, w.high = p.Filter.Range()
	plan := p.plan(w, comment.ReadCount)
	if w.empty() {
		return plan
	}
	ways := covers(p.Filter)
	if counting == comment.CountByRating {
		ways = slices.DeleteFunc(covers(withRatings(p.Filter)), func(c Candidate) bool { return !c.Cover[0].Index.SplitsByRating() })
	}
	p.read(&plan, narrowest(ways).Cover)
	return plan
}

// withRatings is a filter that names its ratings, also if they are all.
func withRatings(filter comment.Filter) comment.Filter {
	if len(filter.Ratings) == 0 {
		for rating := 1; rating <= comment.MaxRating; rating++ {
			filter.Ratings = append(filter.Ratings, rating)
		}
	}
	return filter
}

func (p Planner) plan(w Window, purpose comment.ReadPurpose) Plan {
	return Plan{Product: p.Product, Purpose: purpose, Low: w.low, High: w.high, Descending: w.descending, Known: p.Known}
}

// read adds the reads of a cover to a plan, but for those that are known to find nothing.
func (p Planner) read(plan *Plan, cover Cover) {
	for _, part := range cover {
		if p.Known.nothingIn(part) {
			plan.Skipped = append(plan.Skipped, part.Partition)
			continue
		}
		plan.Reads = append(plan.Reads, Read{Part: part})
	}
}

// NextLimit is the limit of a further call of a read that has come so far, while so many comments are missing. What a
// residual filter leaves is never sure, so that such a read takes what a unit that is paid for has room for.
func (p Plan) NextLimit(read Read, last, looked, kept, missing int) int {
	limit := nextLimit(last, looked, kept, missing)
	if size := p.Known.Sizes.Of(read.Partition); read.residual() && size.Mean > 0 {
		limit = min(max(limit, size.fitting(limit)), MaxLimit)
	}
	if len(p.Reads) > maxReads {
		limit = min(limit, 2*last)
	}
	return limit
}

// nextLimit is the limit of a further call to a partition that has yielded some of what it was looked at for, while so
// many are missing: what the yield so far lets expect, or twice the last limit when there was none.
func nextLimit(last, looked, kept, missing int) int {
	limit := 2 * last
	if kept > 0 {
		limit = (missing*looked + kept - 1) / kept
	}
	return max(1, min(limit, MaxLimit))
}

// String is the plan in words, a line for each read.
func (p Plan) String() string {
	var b strings.Builder
	b.WriteString(p.headline())
	b.WriteString(p.choiceText())
	if len(p.Reads) == 0 {
		b.WriteString("\n  nothing to read")
	}
	for _, read := range p.Reads {
		fmt.Fprintf(&b, "\n  %s %s in %s%s", read.verb(), read.Partition.Key(p.Product), read.Partition.Index, read.residualText())
	}
	for _, partition := range p.Skipped {
		fmt.Fprintf(&b, "\n  skip %s in %s, which held none of these %v ago", partition.Key(p.Product), partition.Index, p.Known.Age.Round(time.Millisecond))
	}
	return b.String()
}

func (p Plan) headline() string {
	if p.Purpose == comment.ReadCount {
		return fmt.Sprintf("%s: all comments of product %q%s", purposeText[p.Purpose], p.Product, p.rangeText())
	}
	return fmt.Sprintf("%s: up to %d comments of product %q, %s%s", purposeText[p.Purpose], p.Want, p.Product, p.orderText(), p.rangeText())
}

// choiceText says what was chosen from, and why the first of it.
func (p Plan) choiceText() string {
	if p.Narrowed {
		return "\n  by " + p.Candidates[0].Name + ", as the cheaper attempt was given up: it found too little of what is wanted"
	}
	if len(p.Candidates) < 2 {
		return ""
	}
	var b strings.Builder
	for i, candidate := range p.Candidates {
		b.WriteString([]string{"\n  by ", ", not by "}[min(i, 1)] + candidate.Name)
		if p.Estimated {
			fmt.Fprintf(&b, " (about %.1f units)", candidate.Units)
		}
	}
	if !p.Estimated {
		b.WriteString(": no counts are known, and this reads least beside what is wanted")
	}
	if p.Remembered {
		b.WriteString("; as far as when the page was last read")
	}
	return b.String()
}

func (r Read) verb() string {
	if r.Limit == 0 {
		return "count"
	}
	return fmt.Sprintf("read %d of", r.Limit)
}

var purposeText = map[comment.ReadPurpose]string{
	comment.ReadPage:  "for the page and its neighbours",
	comment.ReadProbe: "to see whether anything lies beyond a cursor",
	comment.ReadCount: "for the count of the whole list",
}

func (p Plan) orderText() string {
	if p.Descending {
		return "newest first"
	}
	return "oldest first"
}

func (p Plan) rangeText() string {
	var b strings.Builder
	if from := p.LowKey(); from != nil {
		b.WriteString(", from " + *from)
	}
	if to := p.HighKey(); to != nil {
		b.WriteString(", up to " + *to)
	}
	return b.String()
}

// LowKey is the lower bound of the sort key, nil when there is none.
func (p Plan) LowKey() *string {
	if p.Low == (comment.Position{}) {
		return nil
	}
	key := layout.SortKeyOf(p.Low)
	return &key
}

// HighKey is the upper bound of the sort key, nil when there is none.
func (p Plan) HighKey() *string {
	if p.High == comment.MaxPosition {
		return nil
	}
	key := layout.SortKeyOf(p.High)
	return &key
}

func (r Read) residualText() string {
	var b strings.Builder
	if r.Languages != nil {
		fmt.Fprintf(&b, ", keeping languages %v", r.Languages)
	}
	if r.Ratings != nil {
		fmt.Fprintf(&b, ", keeping ratings %v", r.Ratings)
	}
	return b.String()
}
