package dynamo

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// ByClock gives a store another clock.
func ByClock(s *Store, now func() time.Time) *Store {
	s.now = now
	return s
}

// PriorOf returns what a store plans by.
func PriorOf(s *Store) *planner.Prior { return s.prior() }

// Teach has a store learn from the counts of a product.
func Teach(s *Store, product string, stats comment.Stats) { s.learner.Count(product, stats) }

// HintOf returns what a store knows of a large product.
func HintOf(s *Store, product string) planner.Hint { return s.learner.Hint(product) }
