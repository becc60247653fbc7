package planner

import (
	"slices"
	"strings"
	"sync"

	"github.com/talkback/talkback/comment"
)

// Memo remembers what was chosen by a Prior alone. Where nothing is known of a product, the choice
// does not depend on the product, and most requests ask for one of a few filters. A Memo is safe for
// concurrent use; the nil Memo remembers nothing.
type Memo struct {
	mu      sync.Mutex
	prior   *Prior // by which all of them were chosen
	choices map[memoKey]choice
}

// mostChoices is how many choices a Memo remembers, each of at most some kilobytes.
const mostChoices = 512

// memoKey is all that a choice by a Prior depends on.
type memoKey struct {
	languages    string // each with a comma behind it, which no language has
	ratings      uint8  // the bit of each
	want, before int
	partial      bool
}

// NewMemo returns a Memo that remembers nothing yet.
func NewMemo() *Memo { return &Memo{} }

// choose returns the choice of a request for a list of a product of which nothing is known, and false
// if something is.
func (m *Memo) choose(known Known, filter comment.Filter, r Request) (c choice, chosen bool) {
	if m == nil || known.Stats != nil || known.Trusted || known.Sizes != (Sizes{}) || known.Hint != (Hint{}) ||
		r.Last != nil || r.Sample != nil || len(filter.Languages) > maxMixed {
		return c, false
	}
	key := memoKey{languages: joined(filter.Languages), want: r.Want, before: r.before(), partial: r.partial(filter)}
	for _, rating := range filter.Ratings {
		key.ratings |= 1 << rating
	}
	prior := known.prior()
	if c, chosen = m.find(prior, key); chosen {
		return c, true
	}
	filter = kept(filter)
	c = newEstimator(known, filter, r).choose()
	m.keep(prior, key, c)
	return c, true
}

// find returns what was chosen by a Prior. What was chosen by another is forgotten.
func (m *Memo) find(prior *Prior, key memoKey) (c choice, found bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prior != prior {
		m.prior, m.choices = prior, nil
	}
	c, found = m.choices[key]
	return c, found
}

func (m *Memo) keep(prior *Prior, key memoKey, c choice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.prior != prior {
		return // another is in use by now
	}
	if m.choices == nil || len(m.choices) >= mostChoices {
		m.choices = make(map[memoKey]choice)
	}
	m.choices[key] = c
}

// joined is one text of several languages.
func joined(languages []comment.Language) string {
	if len(languages) == 0 {
		return ""
	}
	var b strings.Builder
	for _, language := range languages {
		b.WriteString(string(language))
		b.WriteByte(',')
	}
	return b.String()
}

// kept is a filter that may outlive its request, whose text its languages may be part of.
func kept(filter comment.Filter) comment.Filter {
	filter.Languages, filter.Ratings = slices.Clone(filter.Languages), slices.Clone(filter.Ratings)
	for i, language := range filter.Languages {
		filter.Languages[i] = comment.Language(strings.Clone(string(language)))
	}
	return filter
}
