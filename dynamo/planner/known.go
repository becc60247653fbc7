package planner

import (
	"time"

	"github.com/talkback/talkback/comment"
)

// Known is what is known of a product's counts when a plan is made. The zero value knows nothing.
type Known struct {
	// Stats are the counts.
	Stats comment.Stats
	// AsOf is a moment up to which all changes are in the counts.
	AsOf time.Time
	// Age is how long ago that was.
	Age time.Duration
	// Trusted says that a count of zero may be taken for the truth.
	Trusted bool
	// Sizes are those of the comments read lately, zero when none were.
	Sizes Sizes
}

// nothingIn tells whether a part is known to hold nothing that is wanted of it. A comment which no partition holds is in
// none of its ranges of dates either. A language that shares its row of the statistics is not known to hold nothing.
func (k Known) nothingIn(part Part) bool {
	return k.Trusted && k.Stats.AtMost(part.wanted()) == comment.Counts{}
}
