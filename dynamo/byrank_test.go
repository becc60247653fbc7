package dynamo

import (
	"context"
	"errors"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/pageindex"
)

// brokenIndex is an index of page numbers that fails.
type brokenIndex struct{ err error }

func (b brokenIndex) Find(context.Context, pageindex.List, []pageindex.Target) (pageindex.Found, error) {
	return pageindex.Found{}, b.err
}

// If the index of page numbers is away or too slow, the page is read without it. Any other failure
// is one of the page, as is the end of the request.
func TestRanksThatAreNotAnswered(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, row := range []struct {
		why  string
		ctx  context.Context
		err  error
		away bool
	}{
		{"away", t.Context(), comment.Errorf(comment.Unavailable, "away"), true},
		{"too slow", t.Context(), comment.Errorf(comment.Timeout, "slow"), true},
		{"broken", t.Context(), errors.New("broken"), false},
		{"nobody waits", gone, comment.Errorf(comment.Timeout, "slow"), false},
	} {
		s := NewStore(&warehouse{}, "comments", Options{PageNumbers: brokenIndex{row.err}})
		r := s.newRun(row.ctx, layout.NewMeter(1, pageCure), planner.Plan{Product: "42", Want: 1, ByRank: true, Descending: true, High: comment.Place{Position: comment.MaxPosition}})
		err := s.takeByRank(row.ctx, r)
		if (err == nil) != row.away || r.cut != row.away || r.away != row.away {
			t.Errorf("%s: %v, cut %v, away %v", row.why, err, r.cut, r.away)
		}
	}
}
