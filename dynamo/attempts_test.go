package dynamo

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// An attempt that failed is known for a while, to lists of the same filter alone.
func TestFailedAttempts(t *testing.T) {
	now := time.Unix(0, 0)
	a := newAttempts()
	a.now = func() time.Time { return now }
	p := planner.Planner{Product: "42", Filter: comment.Filter{Ratings: []int{1, 2}}}
	other, rated := p, p
	other.Product = "43"
	rated.Filter = comment.Filter{Ratings: []int{1, 3}}
	a.fail(attemptKeyOf(p, comment.ReadPage))
	for _, row := range []struct {
		why  string
		key  attemptKey
		age  time.Duration
		want bool
	}{
		{"the next page", attemptKeyOf(p, comment.ReadPage), failedAge - 1, true},
		{"when counts may have been read anew", attemptKeyOf(p, comment.ReadPage), failedAge, false},
		{"a probe has a bound of its own", attemptKeyOf(p, comment.ReadProbe), 0, false},
		{"another product", attemptKeyOf(other, comment.ReadPage), 0, false},
		{"another filter", attemptKeyOf(rated, comment.ReadPage), 0, false},
	} {
		now = time.Unix(0, 0).Add(row.age)
		if got := a.failedLately(row.key); got != row.want {
			t.Errorf("%s: %t", row.why, got)
		}
	}
}
