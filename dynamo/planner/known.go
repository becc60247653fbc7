package planner

import (
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/newest"
)

// Known is what is known of a product when a plan is made. The zero value knows nothing.
type Known struct {
	// Stats are the counts by language and rating, nil if they are not known.
	Stats comment.Stats
	// AsOf is a time up to which all changes are counted.
	AsOf time.Time
	// Age is the time since AsOf.
	Age time.Duration
	// Trusted is whether counts and positions are recent enough to skip partitions by.
	Trusted bool
	// Newest are the positions of the newest comments, nil if they are not known.
	Newest *newest.Bounds
	// Sizes are the sizes of comments that were read lately, zero if none were.
	Sizes Sizes
}

// empty tells whether a filter is known to allow no comment. Languages that share one row of the
// statistics ("other languages") are never known to be empty while the row has comments.
func (k *Known) empty(filter comment.Filter) bool {
	return k.Trusted && k.Stats.AtMost(filter) == comment.Counts{}
}

// older tells whether all that a filter allows is known to be older than a position.
func (k *Known) older(filter comment.Filter, than comment.Position) bool {
	return than != (comment.Position{}) && k.Trusted && k.Newest != nil && k.Newest.Of(filter, k.Stats).Compare(than) < 0
}

// counts are the counts to plan a list by, nil if there are none. Those by which nothing is in the
// list, unless they are trusted, are ignored: the product is probably new and not counted yet.
func (k *Known) counts(filter comment.Filter) comment.Stats {
	switch {
	case k.Stats == nil && k.Trusted:
		return comment.Stats{}
	case k.Trusted, k.Stats.AtMost(filter).Total() > 0:
		return k.Stats
	}
	return nil
}

// LikelySizes are the sizes of comments: those of the product, or what is likely.
func (k *Known) LikelySizes() Sizes {
	if k.Sizes.Any.Mean > 0 {
		return k.Sizes
	}
	return Sizes{Any: unknownSize}
}
