package comment_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

func at(text string) *time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return &t
}

func TestNormalize(t *testing.T) {
	for _, row := range []struct {
		why      string
		in, want comment.Filter
	}{
		{"nothing stays nothing", comment.Filter{}, comment.Filter{}},
		{"an empty list is no restriction", comment.Filter{Languages: []comment.Language{}, Ratings: []int{}}, comment.Filter{}},
		{"order and duplicates do not matter",
			comment.Filter{Ratings: []int{5, 1, 5}, Languages: []comment.Language{"fr", "de", "fr"}},
			comment.Filter{Ratings: []int{1, 5}, Languages: []comment.Language{"de", "fr"}}},
		{"all five ratings are no restriction", comment.Filter{Ratings: []int{3, 1, 2, 5, 4}}, comment.Filter{}},
		{"times are rounded up to the millisecond at both ends, in UTC",
			comment.Filter{CreatedAfter: at("2024-05-01T14:00:00.0000001+02:00"), CreatedBefore: at("2024-05-01T13:00:00.001Z")},
			comment.Filter{CreatedAfter: at("2024-05-01T12:00:00.001Z"), CreatedBefore: at("2024-05-01T13:00:00.001Z")}},
	} {
		got, err := row.in.Normalize()
		if diff := cmp.Diff(row.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", row.why, err, diff)
		}
	}
}

func TestNormalizeRefuses(t *testing.T) {
	many := make([]comment.Language, comment.MaxLanguages+1)
	for i := range many {
		many[i] = comment.Language(rune('a'+i/26)) + comment.Language(rune('a'+i%26))
	}
	for _, row := range []struct {
		why string
		in  comment.Filter
	}{
		{"0 is no rating", comment.Filter{Ratings: []int{0}}},
		{"6 is no rating", comment.Filter{Ratings: []int{1, 6}}},
		{"too many languages for one expression", comment.Filter{Languages: many}},
		{"a range that ends before it starts", comment.Filter{CreatedAfter: at("2024-05-02T00:00:00Z"), CreatedBefore: at("2024-05-01T00:00:00Z")}},
		{"a range within one millisecond, in which no comment can stand", comment.Filter{CreatedAfter: at("2024-05-01T00:00:00.0000001Z"), CreatedBefore: at("2024-05-01T00:00:00.0000009Z")}},
		{"a range of no length", comment.Filter{CreatedAfter: at("2024-05-01T00:00:00Z"), CreatedBefore: at("2024-05-01T00:00:00Z")}},
	} {
		if _, err := row.in.Normalize(); comment.KindOf(err) != comment.BadInput {
			t.Errorf("%s: %v, want bad input", row.why, err)
		}
	}
	if _, err := (comment.Filter{Languages: many[:comment.MaxLanguages]}).Normalize(); err != nil {
		t.Errorf("as many languages as an expression takes: %v", err)
	}
}

// The range of positions holds exactly the comments whose time the filter allows.
func TestRangeIsWhatTheDatesAllow(t *testing.T) {
	moment := func(t *rapid.T, label string) time.Time {
		return time.UnixMicro(rapid.Int64Range(-3000, 9000).Draw(t, label)).UTC()
	}
	rapid.Check(t, func(t *rapid.T) {
		after, before := moment(t, "after"), moment(t, "before")
		filter, err := comment.Filter{CreatedAfter: &after, CreatedBefore: &before}.Normalize()
		if err != nil {
			t.Skip("the wrong way round")
		}
		created := time.UnixMilli(rapid.Int64Range(0, 9).Draw(t, "created"))
		ends := rapid.SampledFrom([][]byte{make([]byte, 10), bytes.Repeat([]byte{255}, 10)})
		distinct := rapid.OneOf(ends, rapid.SliceOfN(rapid.Byte(), 10, 10)).Draw(t, "distinct")
		p := comment.PositionAt(created, [10]byte(distinct))
		low, high := filter.Range()
		inside := low.Compare(p) <= 0 && p.Compare(high) <= 0
		allowed := !created.Before(after) && created.Before(before)
		if inside != allowed || filter.Allows(comment.Comment{ID: comment.IDOf(p)}) != allowed {
			t.Fatalf("%s between %s and %s: inside is %v, allowed %v", created, after, before, inside, allowed)
		}
	})
}

// Every attribute is drawn by tests of filters. Conditions allow the cells that their filter
// allows.
func TestConditions(t *testing.T) {
	drawn := map[comment.Attribute]bool{}
	rapid.Check(t, func(t *rapid.T) {
		filter := commenttest.AnyFilter(t)
		filter.Helpful = rapid.SampledFrom([]*bool{nil, new(true), new(false)}).Draw(t, "of a link of a list")
		conditions := filter.Conditions()
		for _, condition := range conditions {
			drawn[condition.Attribute] = true
		}
		cell := comment.Cell{Language: rapid.SampledFrom(commenttest.Languages).Draw(t, "language"), Rating: rapid.IntRange(1, comment.MaxRating).Draw(t, "rating")}
		refused := slices.ContainsFunc(conditions, func(c comment.Condition) bool { return !c.AllowsCell(cell) })
		if filter.AllowsCell(cell) == refused {
			t.Fatalf("%+v and its conditions %v differ about %v", filter, conditions, cell)
		}
	})
	for _, attribute := range comment.Attributes() {
		if !drawn[attribute] {
			t.Errorf("no filter of tests has a condition on %s: draw one in commenttest.AnyFilter", attribute)
		}
	}
}

// A list is counted by statistics unless dates restrict it.
func TestCounted(t *testing.T) {
	rated := comment.Filter{Ratings: []int{1}}
	dated := comment.Filter{Ratings: []int{1}, CreatedBefore: at("2024-05-01T00:00:00Z")}
	if !rated.Counted() || dated.Counted() {
		t.Errorf("counted: %v without dates, %v with dates", rated.Counted(), dated.Counted())
	}
	both := comment.Filter{Ratings: []int{1}, Languages: []comment.Language{"de"}}
	if !rated.RestrictsOnly(comment.OfRating) || dated.RestrictsOnly(comment.OfRating) || both.RestrictsOnly(comment.OfRating) {
		t.Error("a filter of ratings alone is told from none of the others")
	}
}
