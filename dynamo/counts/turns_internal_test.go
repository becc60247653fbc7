package counts

import (
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

// However long a product is throttled, the next turn comes within the longest wait, and soon after
// the trouble the wait is the first again.
func TestWaitsAfterALongOutage(t *testing.T) {
	turns := turns{queues: map[string]*queue{}}
	shares := turns.join([]Change{{Product: "x", ID: "c_1"}})
	for range 200 {
		turns.queues["x"].due = time.Time{}
		now, _, _, _ := turns.begin(shares)
		turns.end(now, nil, errWaits)
		if early := time.Until(turns.queues["x"].due); early > turnLongestWait {
			t.Fatalf("the next turn is due in %v", early)
		}
	}
	for range turnDoublings {
		turns.queues["x"].due = time.Time{}
		now, _, _, _ := turns.begin(shares)
		turns.end(now, nil, comment.Errorf(comment.Internal, "of something else"))
	}
	if failures := turns.queues["x"].failures; failures != 0 {
		t.Errorf("the wait is still doubled %d times", failures)
	}
}
