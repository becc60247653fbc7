package importer

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Limits of a Preview.
const (
	maxSamples  = 10
	maxTallied  = 50_000 // of languages, products and reasons each
	maxReported = 10     // of these
)

// Preview is what an import would do with the rows of a file that were read.
type Preview struct {
	Mapping reviewfile.Mapping
	// Partial means that the file has more rows, which cannot be read twice.
	Partial bool
	// States is the number of rows by status.
	States map[comment.Status]int
	// Spam is how many of the rejected comments are spam.
	Spam int
	// Rejected is how many rows cannot be imported.
	Rejected int
	// Languages, Products and Reasons count the most frequent ones.
	Languages, Products, Reasons Tally
	// Samples are random rows from the whole file.
	Samples []comment.Comment

	// Rows is how many rows can be imported, and Line is the line of the first. Repeated is how many
	// of the rows are left out, because an earlier row has their id.
	Rows, Line, Repeated int

	otherIDs bool // whether a row has a product id that is not such as 12.0
	random   *rand.Rand
}

// add adds rows, and the line of their first comment.
func (p *Preview) add(comments []comment.Comment, rejected []*reviewfile.RowError, line int) {
	for _, bad := range rejected {
		p.Rejected++
		p.Reasons.add(bad.Reason)
	}
	p.Line = cmp.Or(p.Line, line)
	for _, c := range comments {
		p.Rows++
		p.States[c.Status]++
		if c.Moderation != nil && c.Moderation.Reason != nil && *c.Moderation.Reason == comment.Spam {
			p.Spam++
		}
		p.Languages.add(string(c.Language))
		p.Products.add(c.ProductID)
		p.otherIDs = p.otherIDs || !wholeFloat.MatchString(c.ProductID)
		if len(p.Samples) < maxSamples {
			p.Samples = append(p.Samples, c)
		} else if i := p.random.IntN(p.Rows); i < maxSamples { // so each row has the same chance
			p.Samples[i] = c
		}
	}
}

// wholeFloat matches a whole number as programs write it that took it for a floating-point number.
var wholeFloat = regexp.MustCompile(`^\d+\.0$`)

// WholeFloats reports whether there are rows, and all their product ids are such as 12.0. pandas
// makes them of 12 if a value of the column is missing.
func (p *Preview) WholeFloats() bool { return p.Rows > 0 && !p.otherIDs }

// Tally counts texts in bounded memory. With more than maxTallied different texts it forgets rare
// ones, and its counts are lower bounds (the algorithm of Misra and Gries).
type Tally struct {
	counts map[string]int
	// Lossy means that there were too many different texts.
	Lossy bool
}

func (t *Tally) add(text string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	_, known := t.counts[text]
	switch {
	case known:
		t.counts[text]++
		return
	case len(t.counts) < maxTallied:
		t.counts[strings.Clone(text)]++ // else it would keep its whole row in memory
		return
	}
	t.Lossy = true
	for other := range t.counts {
		if t.counts[other]--; t.counts[other] == 0 {
			delete(t.counts, other)
		}
	}
}

// Count is a text and how often it was counted.
type Count struct {
	Text  string
	Count int
}

// Len returns the number of different texts.
func (t *Tally) Len() int { return len(t.counts) }

// Top returns the maxReported most frequent texts, the most frequent first.
func (t *Tally) Top() []Count {
	all := make([]Count, 0, len(t.counts))
	for _, text := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, Count{text, t.counts[text]})
	}
	slices.SortStableFunc(all, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	return all[:min(len(all), maxReported)]
}
