package planner

import (
	"time"

	"github.com/talkback/talkback/comment"
)

// Known is what is known of a product when a plan is made. The zero value knows nothing.
type Known struct {
	// Stats are the counts by language and rating, nil if they are not known.
	Stats comment.Stats
	// AsOf is a time up to which all changes are counted.
	AsOf time.Time
	// Age is the time since AsOf.
	Age time.Duration
	// Trusted is whether the counts are recent enough to skip empty partitions.
	Trusted bool
	// Sizes are the sizes of comments that were read lately, zero if none were.
	Sizes Sizes
	// Prior is what is likely of products whose counts are not known, nil for DefaultPrior.
	Prior *Prior
	// Hint is what else is known of this product, as far as its counts are not.
	Hint Hint
}

// empty tells whether a part is known to hold nothing of the list. Languages that share one row of
// the statistics ("other languages") are never known to be empty while the row has comments.
func (k Known) empty(part Part) bool {
	return k.Trusted && k.Stats.AtMost(part.wanted()) == comment.Counts{}
}
