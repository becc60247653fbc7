package planner

import (
	"fmt"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
)

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
		fmt.Fprintf(&b, "%s: up to %d comments of product %q, %s", purposeText[p.Purpose], p.Want, p.Product, order)
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
		fmt.Fprintf(&b, ": without statistics, estimated from the first %d comments", p.Sampled)
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
