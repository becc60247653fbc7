package resolvers_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/comment"
)

// Moderate lets everyone moderate. Decisions are made as requested.
func (*shop) Moderate(context.Context) error { return nil }

func (s *shop) Decide(_ context.Context, v comment.Verdict) (comment.Comment, []comment.Problem, error) {
	if s.refuse != nil {
		if err := s.refuse(v); err != nil {
			return comment.Comment{}, nil, err
		}
	}
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

// If the table is too busy for a part of the decisions, the answer says that nothing was written
// only if that is so.
func TestDecisionsOfABusyTable(t *testing.T) {
	for decided, code := range map[string]string{"": "THROTTLED", "a": "UNAVAILABLE"} {
		synctest.Test(t, func(t *testing.T) {
			s := &shop{refuse: func(v comment.Verdict) error {
				if v.ID == decided {
					return nil
				}
				time.Sleep(time.Second) // the other decision is made meanwhile
				return comment.Errorf(comment.Throttled, "the table is too busy")
			}}
			answer, _ := s.ask(t, `mutation { decideComments(input: {decisions: [{id: "a", version: 1}, {id: "b", version: 1}]}) { results { userErrors { code } } } }`)
			if !strings.Contains(answer, `"code":"`+code+`"`) {
				t.Errorf("decided %q: %s", decided, answer)
			}
		})
	}
}
