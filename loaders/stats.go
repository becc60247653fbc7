package loaders

import (
	"context"
	"time"

	"github.com/talkback/talkback/comment"
)

// StatsGetter fetches the statistics of products, all different and at most 100. Those without comments are missing from
// the answer, those that could not be fetched are among the failed.
type StatsGetter interface {
	StatsOf(ctx context.Context, products []string) (found map[string]comment.Stats, failed map[string]error, err error)
	// RowsOf does the same for languages that are among the Others of the statistics of their products.
	RowsOf(ctx context.Context, languages []comment.ProductLanguage) (
		found map[comment.ProductLanguage]comment.Counts, failed map[comment.ProductLanguage]error, err error,
	)
}

// Freshness tells a time up to which every change is in the statistics that are read from then on, false when that is
// unknown. It is asked before the first statistics of each request are fetched, and must be quick.
type Freshness func(ctx context.Context) (upTo time.Time, known bool)

// TellFreshness has the loaders know how fresh statistics are. It is to be called before anything is loaded.
func (l *Loaders) TellFreshness(freshness Freshness) { l.freshness = freshness }

// noteFreshness asks how fresh statistics will be that are fetched after it.
func (l *Loaders) noteFreshness(ctx context.Context) {
	if l.freshness == nil {
		return
	}
	if upTo, known := l.freshness(ctx); known {
		l.asOf = &upTo
	}
}

// StatsAsOf is a time up to which every change is in all statistics that these loaders have fetched, nil when that is
// unknown. It is to be called after the first of them were loaded.
func (l *Loaders) StatsAsOf() *time.Time { return l.asOf }

// Stats are the statistics of a product, empty when it has no comments. Whatever is asked of them, they are fetched once,
// and those of products asked for within a millisecond together. A failure is not remembered: whoever asks again makes a
// new attempt.
func (l *Loaders) Stats(ctx context.Context, product string) (comment.Stats, error) {
	stats, err := l.stats.load(ctx, product)
	if stats == nil || err != nil {
		return nil, err
	}
	return *stats, nil
}

// Counts are the numbers of the comments of a product that a filter without dates allows. Languages of which its statistics
// do not tell are looked up.
func (l *Loaders) Counts(ctx context.Context, product string, filter comment.Filter) (comment.Counts, error) {
	stats, err := l.Stats(ctx, product)
	if err != nil {
		return comment.Counts{}, err
	}
	rows := stats
	if others := stats.Others(filter.Languages); len(others) > 0 {
		if rows, err = l.withRows(ctx, product, stats, others); err != nil {
			return comment.Counts{}, err
		}
	}
	return rows.Counts(filter), nil
}

// withRows are the statistics of a product with rows for further languages, which are fetched together.
func (l *Loaders) withRows(ctx context.Context, product string, stats comment.Stats, languages []comment.Language) (comment.Stats, error) {
	for _, language := range languages {
		l.rows.expect(ctx, comment.ProductLanguage{Product: product, Language: language})
	}
	stats = stats.Clone()
	for _, language := range languages {
		row, err := l.rows.load(ctx, comment.ProductLanguage{Product: product, Language: language})
		if err != nil {
			return nil, err
		}
		if row != nil {
			stats[language] = *row
		}
	}
	return stats, nil
}

// StatsOfAll are the statistics of products, in their order, if all of them could be fetched. Otherwise it is for Stats to
// say of each what is wrong.
func (l *Loaders) StatsOfAll(ctx context.Context, products []string) (all []comment.Stats, whole bool) {
	values, whole := l.stats.loadAll(ctx, products)
	if !whole {
		return nil, false
	}
	all = make([]comment.Stats, len(values))
	for i, value := range values {
		if value != nil {
			all[i] = *value
		}
	}
	return all, true
}

// ExpectStats has the statistics of products fetched together with others that are asked for within a millisecond, beside
// whatever else is done until they are asked for.
func (l *Loaders) ExpectStats(ctx context.Context, products ...string) {
	for _, product := range products {
		l.stats.expect(ctx, product)
	}
}

// ExpectStatsAlone has the statistics of products, at most 100, fetched together, without waiting for any others: by the first
// who asks for them, or from BeginStats on. It is for whoever knows that no others will be asked for at the same time.
func (l *Loaders) ExpectStatsAlone(ctx context.Context, products ...string) {
	l.stats.note(ctx, products)
}

// BeginStats has statistics fetched that are expected alone, beside whatever else is done until they are asked for.
func (l *Loaders) BeginStats(ctx context.Context) { l.stats.beginNoted(ctx) }
