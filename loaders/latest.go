package loaders

import (
	"context"
	"slices"

	"github.com/talkback/talkback/comment"
)

// NewestComment is the newest comment with one of some ratings, as far as the statistics tell.
type NewestComment struct {
	// Comment is nil if there is none.
	Comment *comment.Comment
	// Known is false if the statistics do not tell.
	Known bool
}

// WantLatest announces which newest comments will be asked for. Call it before ExpectStats for the
// products.
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

// Newest returns the newest comment of a product for each set of ratings, as far as the statistics
// tell. It waits for statistics that are being fetched, and fetches the comments together.
func (l *Loaders) Newest(ctx context.Context, product string, want comment.Latest) []NewestComment {
	out := make([]NewestComment, len(want.Ratings))
	if l.options.Latest == nil {
		return out
	}
	if a := l.stats.answers.of(product); a != nil {
		_, _ = a.wait(ctx) // fields that show the statistics report the error
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
			out[i].Known = false // it changed since it was counted, or could not be fetched
			continue
		}
		out[i].Comment = c
	}
	return out
}
