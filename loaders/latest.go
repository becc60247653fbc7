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

// WantLatest says which newest comments will be asked for of the products whose statistics are
// expected. Call it before they are.
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
// of ratings. It waits for statistics that are being fetched, and fetches the comments together.
func (l *Loaders) Newest(ctx context.Context, product string, want comment.Latest) []NewestComment {
	out := make([]NewestComment, len(want.Ratings))
	if l.options.Latest == nil {
		return out
	}
	if a := l.stats.answers.of(product); a != nil {
		_, _ = a.wait(ctx) // the fields that show the value tell its error
	}
	latest := l.latest
	if want.WithoutText {
		latest = l.textlessLatest
	}
	answers := make([]*answer[*comment.Comment], len(want.Ratings))
	for i, ratings := range want.Ratings {
		id, known := l.options.Latest.Newest(product, ratings, want.Among)
		if out[i].Known = known; known && id != "" {
			answers[i] = latest.ask(ctx, id)
		}
	}
	for i, a := range answers {
		if a == nil {
			continue
		}
		c, err := a.wait(ctx)
		if err != nil || c == nil || c.ProductID != product || !(comment.Filter{Ratings: want.Ratings[i]}).Allows(*c) {
			out[i].Known = false // it was changed since it was counted, or cannot be had
			continue
		}
		out[i].Comment = c
	}
	return out
}
