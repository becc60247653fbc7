package loaders

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
)

// NewestComment is what statistics tell of the newest comment with one of some ratings.
type NewestComment struct {
	// Comment is nil if there is none.
	Comment *comment.Comment
	// Known is false if the statistics do not tell.
	Known bool
}

// UseLatest sets what knows the newest comments. Without it, none are known. It comes before
// anything is loaded.
func (l *Loaders) UseLatest(latest LatestGetter) { l.latest = latest }

// WantLatest says which newest comments will be asked for of the products whose statistics are
// expected. It comes before they are.
func (l *Loaders) WantLatest(want comment.Latest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.want.Ratings) == 0 {
		l.want.WithoutText = true
	}
	for _, ratings := range want.Ratings {
		if !slices.ContainsFunc(l.want.Ratings, func(known []int) bool { return slices.Equal(known, ratings) }) {
			l.want.Ratings = append(slices.Clip(l.want.Ratings), ratings)
		}
	}
	l.want.Among = max(l.want.Among, want.Among)
	l.want.WithoutText = l.want.WithoutText && want.WithoutText
}

// Newest returns what the statistics of a product tell of the newest comment with one of each set
// of ratings. It waits for statistics that are being fetched, and fetches the comments: in one call,
// unless the product is one of many, whose comments are fetched together.
func (l *Loaders) Newest(ctx context.Context, product string, want comment.Latest, oneOfMany bool) []NewestComment {
	out := make([]NewestComment, len(want.Ratings))
	if l.latest == nil {
		return out
	}
	l.stats.settle(ctx, product)
	ids := make([]comment.ID, len(want.Ratings))
	for i, ratings := range want.Ratings {
		if ids[i], out[i].Known = l.latest.Newest(product, ratings, want.Among); !out[i].Known {
			ids[i] = ""
		}
	}
	comments := l.commentLoader(want.WithoutText)
	comments.begin(ctx, slices.DeleteFunc(slices.Clone(ids), func(id comment.ID) bool { return id == "" }), oneOfMany)
	for i, id := range ids {
		if id == "" {
			continue
		}
		c, err := comments.load(ctx, id)
		if err != nil || c == nil || c.ProductID != product || !(comment.Filter{Ratings: want.Ratings[i]}).Allows(*c) {
			out[i].Known = false // it was changed since it was counted, or cannot be had
			continue
		}
		out[i].Comment = c
	}
	return out
}
