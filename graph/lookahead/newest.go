package lookahead

import "slices"

// SampleSize is how many of a product's newest comments several fields share if no page is asked
// for. With the one beyond, half a read unit reads about that many.
const SampleSize = 7

// HelpfulSize is how many of a product's most helpful comments several fields share.
const HelpfulSize = 10

// The ratings that count as positive and as negative.
var (
	PositiveRatings = []int{4, 5}
	NegativeRatings = []int{1, 2}
)

// RatingsOfLatest returns the ratings that count for a field that ShowsLatest: its comment has one
// of them.
func (f *Field) RatingsOfLatest() []int {
	if f.Name == "latestPositive" || f.Name == "mostHelpfulPositive" {
		return PositiveRatings
	}
	return NegativeRatings
}

// ShowsLatest reports whether a field shows the newest comment with one of some ratings, or may.
func (f *Field) ShowsLatest() bool { return f.Kind == LatestRated || f.OrLatest }

// Newest collects the sibling fields of one product that show its newest comments. They share one
// page: the largest page of newest comments that is read anyway, or a sample.
type Newest struct {
	// Rated are the sets of ratings for which the newest comment is asked for.
	Rated [][]int
	// Text says that the text of one of these comments is asked for.
	Text bool

	fields []Field
	latest int // how many newest comments are asked for, with one of some ratings or any
}

// NewestOf reads the selected fields of one product.
func NewestOf(fields []Field) Newest {
	asked := Newest{fields: fields}
	ofAll := 0
	for i := range fields {
		switch field := &fields[i]; {
		case field.Kind == Latest:
			ofAll = 1
		case field.ShowsLatest():
			asked.Text = asked.Text || field.WantsText
			ratings := field.RatingsOfLatest()
			if !slices.ContainsFunc(asked.Rated, func(known []int) bool { return slices.Equal(known, ratings) }) {
				asked.Rated = append(asked.Rated, ratings)
			}
		}
	}
	asked.latest = ofAll + len(asked.Rated)
	return asked
}

// Any reports whether any newest comment is asked for.
func (n Newest) Any() bool { return n.latest > 0 }

// Page returns the field with the largest page that lists the newest comments with some ratings, or
// with any rating if ratings is nil. It returns nil if there is none.
func (n Newest) Page(ratings []int) *Field {
	var largest *Field
	for i := range n.fields {
		field := &n.fields[i]
		page := field.Page
		if field.Kind != Comments || !page.FromNewest || page.Slice.Size < 1 || largest != nil && largest.Page.Slice.Size >= page.Slice.Size {
			continue
		}
		other := func(rating int) bool { return !slices.Contains(page.Filter.Ratings, rating) }
		if len(page.Filter.Ratings) == 0 || len(ratings) > 0 && !slices.ContainsFunc(ratings, other) {
			largest = field
		}
	}
	return largest
}

// Sampled reports whether a sample is read for comments that no page lists.
func (n Newest) Sampled() bool { return n.latest > 1 }
