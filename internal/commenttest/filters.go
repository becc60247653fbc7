package commenttest

import (
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// ManyLanguages are n languages that no one speaks.
func ManyLanguages(n int) []comment.Language {
	var out []comment.Language
	for i := range n {
		out = append(out, comment.Language(fmt.Sprintf("l%02d", i)))
	}
	return out
}

// Moment is the position of a comment of a day in May 2024.
func Moment(day int) *comment.Position {
	p := comment.PositionAt(time.Date(2024, 5, day, 12, 0, 0, 0, time.UTC), [10]byte{9: byte(day)})
	return &p
}

// Midnight is the beginning of a day in May 2024.
func Midnight(day int) *time.Time {
	t := time.Date(2024, 5, day, 0, 0, 0, 0, time.UTC)
	return &t
}

// AnyStats are random counts, perhaps none, of some of 42 languages. Some are what they cannot be: someone may have
// changed an item by hand.
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
		stats[language] = counts
	}
	return stats
}
