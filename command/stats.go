package command

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/loaders"
)

// Stats prints how the comments of a product are rated.
type Stats struct {
	Product string `arg:"" help:"Product whose comments are counted."`
	FilterFlags
	PagesFlag
}

// Run prints the statistics of the product, or counts its comments within a range of dates.
func (c *Stats) Run(ctx context.Context, flags *EngineFlags, term Terminal) error {
	if err := comment.CheckProductID(c.Product); err != nil {
		return asUsage(err)
	}
	filter, err := c.FilterFlags.filter()
	if err != nil {
		return asUsage(err)
	}
	return c.PagesFlag.withStore(ctx, flags, "talkback stats", term, func(store *dynamo.Store) error {
		rated, err := readRatings(ctx, store, c.Product, filter)
		if err != nil {
			return err
		}
		_, err = io.WriteString(term.Out, rated.text(time.Now(), output.ScreenOf(term.Out)))
		return err
	})
}

// ratings is how the comments of a product are rated.
type ratings struct {
	product string
	filter  comment.Filter
	counts  comment.Counts
	// languages are rows of the statistics, which have no dates; empty for a range of dates.
	languages []languageRatings
	latest    *time.Time // when the latest comment was written, nil if there is none
	upTo      *time.Time // up to when changes are counted, nil if unknown
}

// languageRatings is how comments in a language are rated.
type languageRatings struct {
	name   string
	counts comment.Counts
}

// readRatings reads how a product's comments that match a filter are rated. It returns a NotFound
// error if the product has no comments at all.
func readRatings(ctx context.Context, store *dynamo.Store, product string, filter comment.Filter) (ratings, error) {
	r := ratings{product: product, filter: filter}
	q := comment.Query{Product: product, Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 1}, WithoutText: true}
	if !filter.Counted() {
		q.Count = comment.CountByRating
	}
	page, err := store.Comments(ctx, q)
	if err != nil {
		return r, err
	}
	if len(page.Comments) > 0 {
		r.latest = new(page.Comments[0].CreatedAt())
	} else if err := checkProduct(ctx, store, product); err != nil {
		return r, err
	}
	if page.Counted != nil {
		r.counts = page.Counted.ByRating
		return r, page.Counted.Err
	}
	if upTo, known := store.CountedUpTo(ctx); known { // read before the statistics, which may be newer
		r.upTo = &upTo
	}
	stats, err := loaders.New(loaders.Options{Stats: store.StatsOf, Rows: store.RowsOf}).Rows(ctx, product, filter)
	if err != nil {
		return r, err
	}
	r.counts = stats.Counts(filter)
	for _, row := range stats.Languages(comment.Filter{}) {
		only := filter
		only.Languages = []comment.Language{row.Language}
		if len(filter.Languages) == 0 || slices.Contains(filter.Languages, row.Language) {
			r.addLanguage(string(row.Language), stats.Counts(only))
		}
	}
	slices.SortStableFunc(r.languages, func(a, b languageRatings) int { return cmp.Compare(b.counts.Total(), a.counts.Total()) })
	if len(filter.Languages) == 0 {
		only := filter
		only.Languages = []comment.Language{comment.OtherLanguages}
		r.addLanguage("others", stats.Counts(only))
	}
	return r, nil
}

func (r *ratings) addLanguage(name string, counts comment.Counts) {
	if counts.Total() > 0 {
		r.languages = append(r.languages, languageRatings{name, counts})
	}
}

func (r ratings) text(now time.Time, screen output.Screen) string {
	head := screen.Head(output.Printable(r.product)) + "\n" + output.Count(r.counts.Total(), "comment", "comments")
	if mean, any := r.counts.Average(); any {
		head += fmt.Sprintf(", %.2f stars on average", mean)
	}
	bars := output.Histogram{}
	for _, row := range r.counts.Ratings() {
		if len(r.filter.Ratings) == 0 || slices.Contains(r.filter.Ratings, row.Rating) {
			bars.Add(starsOf(row.Rating), row.Count)
		}
	}
	out := screen.Fold(head+"\n") + "\n" + bars.On(screen)
	if len(r.languages) > 0 {
		table := output.NewTable("LANGUAGE", "COMMENTS", "SHARE", "AVERAGE")
		for _, row := range r.languages {
			mean, _ := row.counts.Average()
			total := row.counts.Total()
			table.Row(output.Printable(row.name), output.English.Sprint(total), output.Share(total, r.counts.Total()), fmt.Sprintf("%.2f", mean))
		}
		out += "\n" + table.On(screen)
	}
	upTo := "unknown: talkback stream --status says why"
	switch {
	case !r.filter.Counted():
		upTo = "now: this list is counted each time"
	case r.upTo != nil:
		upTo = fmt.Sprintf("%s, %s ago", timeText(*r.upTo), lagText(max(0, now.Sub(*r.upTo))))
	}
	out += "\n"
	for _, row := range [][2]string{{"latest comment", timeOr(r.latest, "none")}, {"counted up to", upTo}} {
		out += screen.Hang(screen.Faint(row[0]), 16, row[1])
	}
	return out
}
