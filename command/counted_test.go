package command_test

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// shelf are the products that writes are spread over.
var shelf = []string{"globe", "a/b#c", "ü"}

// newScribe is a scribe with a model of its own.
func newScribe(a *api) *scribe {
	a.tb.Helper()
	return &scribe{api: a, random: commenttest.Rand(a.tb), model: commenttest.NewModel()}
}

// writeAnywhere makes a random mutation of a comment on any product.
func (s *scribe) writeAnywhere() {
	s.tb.Helper()
	s.product = shelf[s.random.IntN(len(shelf))]
	s.write()
}

// checkCounted holds all that the API says of counts against the model.
func (s *scribe) checkCounted() {
	s.tb.Helper()
	languages := map[comment.Language]int{"": 0}
	for _, product := range shelf {
		s.checkStats(s.random, s.model, product)
		for language := range s.model.Stats(product) {
			languages[language]++
		}
	}
	for language := range languages {
		s.checkLeaders(s.model, language, 20)
	}
}
