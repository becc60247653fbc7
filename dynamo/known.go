package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// known is what is known of the product of a query.
func (s *Store) known(q comment.Query) planner.Known {
	if s.options.Known != nil {
		return s.options.Known(q)
	}
	known := s.memory.recall(q)
	known.Sizes = s.sizes.of(q.Product)
	return known
}

// knownMeanwhile is what is known of the product of a query by now, after a first read for its page.
func (s *Store) knownMeanwhile(q comment.Query, known planner.Known) planner.Known {
	if s.options.Known != nil {
		given := s.options.Known(q)
		given.Sizes = known.Sizes
		return given
	}
	if known.Stats != nil {
		return known
	}
	latest := s.memory.peek(q.Product)
	latest.Sizes = known.Sizes
	return latest
}
