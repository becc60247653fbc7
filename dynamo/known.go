package dynamo

import (
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// known is what is known of the product of a query.
func (s *Store) known(q comment.Query) planner.Known {
	if s.given != nil {
		return s.given(q)
	}
	known := s.memory.recall(q)
	known.Sizes = s.sizes.of(q.Product)
	if known.Prior = s.prior(); known.Stats == nil {
		known.Hint = s.learner.Hint(q.Product, q.Filter.Languages...)
	}
	return known
}

// knownMeanwhile is what is known of the product of a query by now, after a first read for its page.
func (s *Store) knownMeanwhile(q comment.Query, known planner.Known) planner.Known {
	if s.given != nil {
		given := s.given(q)
		given.Sizes = known.Sizes
		return given
	}
	if known.Stats != nil {
		return known
	}
	latest := s.memory.peek(q.Product)
	latest.Sizes, latest.Prior, latest.Hint = known.Sizes, known.Prior, known.Hint
	return latest
}
