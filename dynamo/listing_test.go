package dynamo

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// A list of settled comments ends at the age from which they are, or where its filter ends before.
func TestSettledListsEnd(t *testing.T) {
	s := NewStore(&warehouse{}, "comments", Options{})
	hourAgo, inAnHour := s.now().Add(-time.Hour), s.now().Add(time.Hour)
	for why, before := range map[string]*time.Time{"all": nil, "those until an hour ago": &hourAgo, "those until in an hour": &inAnHour} {
		for _, settled := range []bool{false, true} {
			q := comment.Query{Product: "42", Order: comment.OldestFirst, SettledOnly: settled, Filter: comment.Filter{CreatedBefore: before}}
			l := listing{source: source{store: s, query: q, key: keyOf(q)}}
			l.begin(planner.Knowledge{})
			got, latest := l.planner.Filter.CreatedBefore, s.now().Add(-comment.SettleTime)
			switch {
			case !settled:
				if got != before {
					t.Errorf("%s: the list ends at %v", why, got)
				}
			case got == nil || got.After(latest) || before != nil && got.After(*before):
				t.Errorf("%s, settled: the list ends at %v, want at most %v and %v", why, got, latest, before)
			}
		}
	}
}
