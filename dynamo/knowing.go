package dynamo

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// CommentsKnowing is Comments with what is known of the product given instead of remembered, and without counting: to
// see what plans cost by what is believed. Wrong beliefs cost reads and never comments, unless they are trusted.
func (s *Store) CommentsKnowing(ctx context.Context, q comment.Query, known planner.Known) (comment.Page, error) {
	page, runs, err := s.page(ctx, planner.Planner{Product: q.Product, Filter: q.Filter, Known: known}, q)
	if err != nil {
		return comment.Page{}, err
	}
	page.Plan = explain(runs, len(page.Comments))
	return page, nil
}
