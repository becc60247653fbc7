package loaders

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// StatsAsOf returns a time up to which every change is in all statistics that these loaders have
// fetched, nil if it is unknown or none are fetched yet.
func (l *Loaders) StatsAsOf() *time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.asOf.IsZero() {
		return nil
	}
	return new(l.asOf)
}

// Stats returns the statistics of a product, empty if it has no comments. They are fetched once per
// request, and together with those of other products that are asked for within a millisecond. A
// failure is not cached: the next call tries again.
func (l *Loaders) Stats(ctx context.Context, product string) (comment.Stats, error) {
	stats, err := l.stats.load(ctx, product)
	return *cmp.Or(stats, new(comment.Stats)), err
}

// Rows returns the statistics of a product. It fetches, in one batch, the counts of languages of a
// filter that they do not list.
func (l *Loaders) Rows(ctx context.Context, product string, filter comment.Filter) (comment.Stats, error) {
	rows, err := l.Stats(ctx, product)
	if err != nil {
		return nil, err
	}
	if others := rows.Others(filter.Languages); len(others) > 0 {
		for _, language := range others {
			l.rows.ask(ctx, comment.ProductLanguage{Product: product, Language: language})
		}
		rows = rows.Clone()
		for _, language := range others {
			row, err := l.rows.load(ctx, comment.ProductLanguage{Product: product, Language: language})
			if err != nil {
				return nil, err
			}
			if row != nil {
				rows[language] = *row
			}
		}
	}
	return rows, nil
}

// Statistics returns the numbers of a product's comments that pass a filter without dates, from its
// Rows.
func (l *Loaders) Statistics(ctx context.Context, product string, filter comment.Filter) (*comment.Statistics, error) {
	rows, err := l.Rows(ctx, product, filter)
	if err != nil {
		return nil, err
	}
	counts := rows.Statistics(filter)
	counts.AsOf = l.StatsAsOf()
	return &counts, nil
}

// StatsOfAll returns the statistics of products, in their order. whole is false if any of them
// could not be fetched. Stats then returns the error of each.
func (l *Loaders) StatsOfAll(ctx context.Context, products []string) (all []comment.Stats, whole bool) {
	answers := make([]*answer[*comment.Stats], len(products))
	for i, product := range products {
		answers[i] = l.stats.ask(ctx, product)
	}
	all = make([]comment.Stats, len(products))
	for i, a := range answers {
		stats, err := a.wait(ctx)
		if err != nil {
			return nil, false
		}
		all[i] = *cmp.Or(stats, new(comment.Stats))
	}
	return all, true
}

// ExpectStats begins to fetch the statistics of products, in one batch with others asked for within
// a millisecond. It does not wait for them.
func (l *Loaders) ExpectStats(ctx context.Context, products ...string) {
	for _, product := range products {
		l.stats.ask(ctx, product)
	}
}

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
	if a := l.stats.of(product); a != nil {
		_, _ = a.wait(ctx) // fields that show the statistics report the error
	}
	latest := &l.latest
	if want.WithoutText {
		latest = &l.textlessLatest
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
