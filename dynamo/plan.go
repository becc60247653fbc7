package dynamo

import (
	"fmt"
	"strings"

	"github.com/talkback/talkback/comment"
)

// residualFactor is how many items a read with a residual filter looks at for each one wanted, before anything is known
// of the partition.
const residualFactor = 4

// maxLimit bounds the limit of one call, so that a call which a residual filter keeps nothing of stays a short one.
const maxLimit = 1000

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
	// Want is how many comments to take from the merged reads.
	Want int
	// Reads are made at once, each for one partition.
	Reads []Read
}

// Read is the first read of one partition.
type Read struct {
	// Partition is what is read.
	Partition Partition
	// Limit is how many items the first call looks at.
	Limit int
	// Languages and Ratings are the residual filter: what to keep of a partition that holds others too; nil for all.
	Languages []comment.Language
	Ratings   []int
}

// makePlan plans to take so many comments from a window of the list that the filter makes.
func makePlan(product string, filter comment.Filter, choose Chooser, w window, purpose comment.ReadPurpose, want int) Plan {
	plan := Plan{
		Product:    product,
		Purpose:    purpose,
		Low:        w.low,
		High:       w.high,
		Descending: w.descending,
		Want:       want,
	}
	if w.empty() || want == 0 {
		return plan
	}
	for _, partition := range choose(filter, covers(filter)) {
		read := Read{Partition: partition}
		read.Languages, read.Ratings = partition.residual(filter)
		read.Limit = firstLimit(want, read.hasResidual())
		plan.Reads = append(plan.Reads, read)
	}
	return plan
}

func (r Read) hasResidual() bool { return r.Languages != nil || r.Ratings != nil }

// firstLimit is the limit of the first call: any one partition may hold all that is wanted.
func firstLimit(want int, residual bool) int {
	if residual {
		want *= residualFactor
	}
	return min(want, maxLimit)
}

// nextLimit is the limit of a further call to a partition that has yielded some of what it was looked at for, while so
// many are missing: what the yield so far lets expect, or twice the last limit when there was none.
func nextLimit(last, looked, kept, missing int) int {
	limit := 2 * last
	if kept > 0 {
		limit = (missing*looked + kept - 1) / kept
	}
	return max(1, min(limit, maxLimit))
}

// String is the plan in words, a line for each read.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: up to %d comments of product %q, %s%s", purposeText[p.Purpose], p.Want, p.Product, p.orderText(), p.rangeText())
	if len(p.Reads) == 0 {
		b.WriteString("\n  nothing to read")
	}
	for _, read := range p.Reads {
		fmt.Fprintf(&b, "\n  read %d of %s in %s%s", read.Limit, read.Partition.Key(p.Product), read.Partition.Index, read.residualText())
	}
	return b.String()
}

var purposeText = map[comment.ReadPurpose]string{
	comment.ReadPage:  "for the page and its neighbours",
	comment.ReadProbe: "to see whether anything lies beyond a cursor",
}

func (p Plan) orderText() string {
	if p.Descending {
		return "newest first"
	}
	return "oldest first"
}

func (p Plan) rangeText() string {
	var b strings.Builder
	if from := p.lowKey(); from != nil {
		b.WriteString(", from " + *from)
	}
	if to := p.highKey(); to != nil {
		b.WriteString(", up to " + *to)
	}
	return b.String()
}

// lowKey is the lower bound of the sort key, nil when there is none.
func (p Plan) lowKey() *string {
	if p.Low == (comment.Position{}) {
		return nil
	}
	text := p.Low.String()
	return &text
}

// highKey is the upper bound of the sort key, nil when there is none.
func (p Plan) highKey() *string {
	if p.High == comment.MaxPosition {
		return nil
	}
	text := p.High.String()
	return &text
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
