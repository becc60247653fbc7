package dynamo

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

// A failed attempt is remembered for failedAge, for lists of the same filter only.
func TestFailedAttempts(t *testing.T) {
	now := time.Unix(0, 0)
	a := newAttempts()
	a.now = func() time.Time { return now }
	p := comment.Query{Product: "42", Filter: comment.Filter{Ratings: []int{1, 2}}}
	other, rated := p, p
	other.Product = "43"
	rated.Filter = comment.Filter{Ratings: []int{1, 3}}
	a.fail(keyOf(p).attempt(comment.ReadPage))
	for _, row := range []struct {
		why  string
		key  attemptKey
		age  time.Duration
		want bool
	}{
		{"the next page", keyOf(p).attempt(comment.ReadPage), failedAge - 1, true},
		{"when counts may have been read anew", keyOf(p).attempt(comment.ReadPage), failedAge, false},
		{"a probe has a bound of its own", keyOf(p).attempt(comment.ReadProbe), 0, false},
		{"another product", keyOf(other).attempt(comment.ReadPage), 0, false},
		{"another filter", keyOf(rated).attempt(comment.ReadPage), 0, false},
	} {
		now = time.Unix(0, 0).Add(row.age)
		if got := a.failedLately(row.key); got != row.want {
			t.Errorf("%s: %t", row.why, got)
		}
	}
}
