package comment_test

import (
	"testing"

	"github.com/talkback/talkback/comment"
)

// The place behind the last of a key is the first of the next key.
func TestNeighbouringPlaces(t *testing.T) {
	for _, low := range []comment.Place{
		{Key: 3, Position: comment.Position{15: 7}},
		{Key: 3, Position: comment.MaxPosition},
		{Key: 0, Position: comment.MaxPosition},
	} {
		high := low.Next()
		if low.Compare(high) >= 0 || high.Previous() != low {
			t.Errorf("next of %v is %v, whose previous is %v", low, high, high.Previous())
		}
	}
	if got, want := (comment.Place{Key: 3, Position: comment.MaxPosition}).Next(), (comment.Place{Key: 4}); got != want {
		t.Errorf("the last of key 3 is followed by %v, want %v", got, want)
	}
}
