package resolvers_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/talkback/talkback/comment"
)

// Moderate lets everyone moderate. Decisions are made as requested.
func (*shop) Moderate(context.Context) error { return nil }

func (*shop) Decide(context.Context, comment.Verdict) (comment.Comment, []comment.Problem, error) {
	return comment.Comment{ID: comment.IDOf(comment.Position{}), ProductID: "p", Version: 1}, nil, nil
}

func (s *shop) Withdraw(ctx context.Context, _ string, _ int) (comment.Comment, []comment.Problem, error) {
	return s.Decide(ctx, comment.Verdict{})
}

// Each decision of a mutation shows its change: it reads again what the field before it has read.
func TestDecisionsReadAgain(t *testing.T) {
	const shown = `{ comment { product { stats { total } } } }`
	for _, decision := range []string{
		`approveComment(input: {id: "c", version: 1}) ` + shown,
		`rejectComment(input: {id: "c", version: 1, reason: SPAM}) ` + shown,
		`withdrawComment(input: {id: "c", version: 1}) ` + shown,
		`decideComments(input: {decisions: [{id: "c", version: 1}]}) { results ` + shown + ` }`,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{}
			s.mustAsk(t, fmt.Sprintf("mutation { a: %[1]s b: %[1]s }", decision))
			if len(s.batches) != 2 {
				t.Errorf("%s: statistics were read %d times, want twice", decision, len(s.batches))
			}
		})
	}
}
