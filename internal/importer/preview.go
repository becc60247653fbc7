package importer

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/reviewfile"
)

// Bounds of what a Preview remembers.
const (
	maxSamples  = 10
	maxTallied  = 50_000 // of languages, products and reasons each
	maxReported = 10     // of these
)

// Preview is what an import would do with the rows of a file, from having read them.
type Preview struct {
	// Mapping says which column holds which field.
	Mapping reviewfile.Mapping
	// Partial says that the file has more rows, which cannot be read twice.
	Partial bool
	// States says how many rows are in which state.
	States map[comment.Status]int
	// Spam is how many of the rejected ones were rejected as spam.
	Spam int
	// Rejected is how many rows cannot be imported.
	Rejected int
	// Languages, Products and Reasons are the most frequent ones.
	Languages, Products, Reasons Tally
	// Samples are some rows of all parts of the file.
	Samples []comment.Comment

	random *rand.Rand
	rows   int // that can be imported
}

// Rows returns how many rows can be imported.
func (p *Preview) Rows() int { return p.rows }

// add takes rows.
func (p *Preview) add(comments []comment.Comment, rejected []*reviewfile.RowError) {
	for _, bad := range rejected {
		p.Rejected++
		p.Reasons.add(bad.Reason)
	}
	for _, c := range comments {
		p.rows++
		p.States[c.Status]++
		if c.Moderation != nil && c.Moderation.Reason != nil && *c.Moderation.Reason == comment.Spam {
			p.Spam++
		}
		p.Languages.add(string(c.Language))
		p.Products.add(c.ProductID)
		if len(p.Samples) < maxSamples {
			p.Samples = append(p.Samples, c)
		} else if i := p.random.IntN(p.rows); i < maxSamples { // so each row has the same chance
			p.Samples[i] = c
		}
	}
}

// Tally counts texts in bounded memory. Among more than maxTallied different texts, it forgets rare
// ones, and counts are lower bounds then (the algorithm of Misra and Gries).
type Tally struct {
	counts map[string]int
	// Lossy says that there were too many different texts.
	Lossy bool
}

// add counts a text.
func (t *Tally) add(text string) {
	if t.counts == nil {
		t.counts = map[string]int{}
	}
	_, known := t.counts[text]
	if known || len(t.counts) < maxTallied {
		t.counts[text]++
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

// Len returns how many different texts are known.
func (t *Tally) Len() int { return len(t.counts) }

// Top returns the most frequent texts, the most frequent first.
func (t *Tally) Top() []Count {
	all := make([]Count, 0, len(t.counts))
	for _, text := range slices.Sorted(maps.Keys(t.counts)) {
		all = append(all, Count{text, t.counts[text]})
	}
	slices.SortStableFunc(all, func(a, b Count) int { return cmp.Compare(b.Count, a.Count) })
	return all[:min(len(all), maxReported)]
}
