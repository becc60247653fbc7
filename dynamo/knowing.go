package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// CommentsKnowing is Comments with what is known of the product given instead of remembered, and without counting: to
// see what plans cost by what is believed. Wrong beliefs cost reads and never comments, unless they are trusted.
func (s *Store) CommentsKnowing(ctx context.Context, q comment.Query, known planner.Known) (comment.Page, error) {
	page, err := s.answer(ctx, q, keyOf(q), known)
	page.Counted = nil
	return page, err
}
