package commenttest

import (
	"fmt"
	"math"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// ManyLanguages returns n invented languages.
func ManyLanguages(n int) []comment.Language {
	var out []comment.Language
	for i := range n {
		out = append(out, comment.Language(fmt.Sprintf("l%02d", i)))
	}
	return out
}

// AnyFilter draws a normalized filter with any set of conditions that random comments may meet,
// without dates. Add new conditions here too.
func AnyFilter(t *rapid.T) comment.Filter {
	filter, err := comment.Filter{
		Languages: rapid.SliceOfN(rapid.SampledFrom(append(ManyLanguages(3), Languages...)), 0, 4).Draw(t, "languages"),
		Ratings:   rapid.SliceOfN(rapid.IntRange(1, comment.MaxRating), 0, 4).Draw(t, "ratings"),
		Verified:  rapid.SampledFrom([]*bool{nil, nil, nil, new(true), new(false)}).Draw(t, "verified"),
		WithMedia: rapid.SampledFrom([]*bool{nil, nil, nil, new(true), new(false)}).Draw(t, "withMedia"),
	}.Normalize()
	if err != nil {
		t.Fatal(err)
	}
	return filter
}

// Orders returns all orders.
func Orders() []comment.Order {
	return []comment.Order{comment.NewestFirst, comment.OldestFirst, comment.HighestRated, comment.LowestRated, comment.MostHelpful}
}

// AnyOrder draws an order.
func AnyOrder(t *rapid.T) comment.Order {
	return rapid.SampledFrom(Orders()).Draw(t, "order")
}

// AnyPlace draws the place of a comment in a list. Its rating or votes may be older ones of the
// comment, or it may be a place that only an invented cursor has.
func AnyPlace(t *rapid.T, order comment.Order, c comment.Comment) *comment.Place {
	kind := rapid.IntRange(0, 3).Draw(t, "kind of place")
	if kind == 0 {
		c.Rating = rapid.IntRange(1, comment.MaxRating).Draw(t, "rating before")
		c.Votes.Helpful = c.ImportedVotes.Helpful + rapid.IntRange(0, 5).Draw(t, "votes before")
	}
	place := order.PlaceOf(c)
	if kind == 1 {
		place.Position = rapid.SampledFrom([]comment.Position{{}, place.Position, comment.MaxPosition}).Draw(t, "position")
		if order.Keyed() {
			place.Key = rapid.SampledFrom([]int32{math.MinInt32, -1, 0, 1, 3, 5, 6, comment.MaxKey, math.MaxInt32}).Draw(t, "key")
		}
	}
	return &place
}

// Moment returns the place of a comment on a day in May 2024, in a list by date.
func Moment(day int) *comment.Place {
	return comment.At(comment.PositionAt(time.Date(2024, 5, day, 12, 0, 0, 0, time.UTC), [10]byte{9: byte(day)}))
}

// Midnight returns the beginning of a day in May 2024.
func Midnight(day int) *time.Time {
	return new(time.Date(2024, 5, day, 0, 0, 0, 0, time.UTC))
}

// AnyStats draws random counts, perhaps none, for some of 42 languages. Some counts are impossible,
// as if an item had been edited by hand.
func AnyStats(t *rapid.T) comment.Stats {
	if rapid.Bool().Draw(t, "unknown") {
		return nil
	}
	stats := comment.Stats{}
	for _, language := range rapid.SliceOfN(rapid.SampledFrom(ManyLanguages(42)), 0, 42).Draw(t, "counted") {
		var counts comment.Counts
		for i := range counts {
			counts[i] = rapid.SampledFrom([]int{-400, -1, 0, 0, 1, 3, 20, 500, 1e6}).Draw(t, "count")
		}
		stats[language] = comment.Row{Counts: counts}
	}
	return stats
}
