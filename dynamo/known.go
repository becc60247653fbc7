package dynamo

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
}

// nothingIn tells whether a partition is known to hold nothing that the filter allows. A comment which no partition holds
// is in none of its ranges of dates either.
func (k Known) nothingIn(p Partition, filter comment.Filter) bool {
	if !k.Trusted {
		return false
	}
	if p.Language != "" {
		filter.Languages = []comment.Language{p.Language}
	}
	if p.Rating != 0 {
		filter.Ratings = []int{p.Rating}
	}
	return k.Stats.Counts(filter) == comment.Counts{}
}
