package comment_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// addition is a number of comments of one cell, below zero for removed ones.
type addition struct {
	cell comment.Cell
	n    int
}

// counted returns the statistics after some additions.
func counted(additions []addition) comment.Stats {
	stats := comment.Stats{}
	for _, a := range additions {
		stats.Add(a.cell, a.n)
	}
	return stats
}

// Whatever is added and removed, statistics count what their filter allows. Damaged counts may be
// below zero.
func TestStatsCountWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		additions := make([]addition, rapid.IntRange(0, 12).Draw(t, "additions"))
		for i := range additions {
			additions[i] = addition{comment.Cell{
				Language: rapid.SampledFrom(commenttest.Languages[:2]).Draw(t, "language"),
				Rating:   rapid.IntRange(4, comment.MaxRating).Draw(t, "rating"),
				Traits:   comment.Traits(rapid.SampledFrom([]int{0, 0, 1, 7}).Draw(t, "traits")),
			}, rapid.IntRange(-2, 3).Draw(t, "n")}
		}
		stats := counted(additions)
		count := func(filter comment.Filter) (sum comment.Counts) {
			for _, a := range additions {
				if filter.AllowsCell(a.cell) {
					sum.Add(a.cell, a.n)
				}
			}
			return sum
		}
		filter := commenttest.AnyFilter(t)
		filter.Helpful = rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "helpful")
		got := stats.Statistics(filter)
		if want := count(filter); got.Counts != want || stats.AtMost(filter) != want {
			t.Fatalf("%+v allows %v, at most %v, want %v", filter, got.Counts, stats.AtMost(filter), want)
		}
		verified := filter
		if verified.Verified == nil {
			verified.Verified = new(true)
		}
		want := count(verified).Total()
		if !*verified.Verified {
			want = 0
		}
		if *got.Verified() != want {
			t.Fatalf("of %+v, %d are verified, want %d", filter, *got.Verified(), want)
		}
		some := rapid.IntRange(0, len(additions)).Draw(t, "first part")
		together, more := counted(additions[:some]), counted(additions[some:])
		for language, row := range more {
			if together[language] = together[language].Plus(row); together[language] == (comment.Row{}) {
				delete(together, language)
			}
		}
		if diff := cmp.Diff(stats, together); diff != "" {
			t.Fatalf("counted at once (-) and in two parts (+): %s", diff)
		}
	})
}

// Only a language without a row of its own may have comments of the shared row.
func TestAtMost(t *testing.T) {
	stats := comment.Stats{"de": {Counts: comment.Counts{1}}, comment.OtherLanguages: {Counts: comment.Counts{5}}}
	for language, want := range map[comment.Language]int{"de": 1, "is": 5, "": 6} {
		var filter comment.Filter
		if language != "" {
			filter.Languages = []comment.Language{language}
		}
		if got := stats.AtMost(filter).Total(); got != want {
			t.Errorf("at most %d comments in %q, want %d", got, language, want)
		}
	}
}
