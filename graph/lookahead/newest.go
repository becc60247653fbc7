package lookahead

import "slices"

// SampleSize is how many of the newest comments of a product are looked at for several fields if no
// page is asked for: with one beyond, about as many as half a read unit reads.
const SampleSize = 7

// HelpfulSize is how many of the most helpful comments of a product are looked at for several fields.
const HelpfulSize = 10

// The ratings that count as positive and as negative.
var (
	PositiveRatings = []int{4, 5}
	NegativeRatings = []int{1, 2}
)

// RatingsOfLatest returns the ratings of a field that ShowsLatest: the newest comment with one of them.
func (f *Field) RatingsOfLatest() []int {
	if f.Name == "latestPositive" || f.Name == "mostHelpfulPositive" {
		return PositiveRatings
	}
	return NegativeRatings
}

// ShowsLatest reports whether a field shows the newest comment with one of some ratings, or may.
func (f *Field) ShowsLatest() bool { return f.Kind == LatestRated || f.OrLatest }

// Newest is what fields of one product, beside each other, ask of its newest comments. They share
// one page: the comments that the largest page of the newest lists anyway, or a sample.
type Newest struct {
	// Rated are the sets of ratings whose newest comment is asked for.
	Rated [][]int
	// Text says that the text of one of these is.
	Text bool

	fields []Field
	latest int // how many newest comments are asked for, with one of some ratings or any
}

// NewestOf reads the fields that are asked of one product.
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

// Page returns the field whose page is looked at for the newest comment with one of some ratings, of
// all if ratings is nil; nil for none.
func (n Newest) Page(ratings []int) *Field {
	var largest *Field
	for i := range n.fields {
		field := &n.fields[i]
		if field.Kind == Comments && field.Page.lists(ratings) && (largest == nil || largest.Page.Size < field.Page.Size) {
			largest = field
		}
	}
	return largest
}

// Sampled reports whether a sample is read for what no page lists.
func (n Newest) Sampled() bool { return n.latest > 1 }

// lists reports whether a page lists the newest comments of a product with some ratings, and
// perhaps others. One of none does not tell which they are.
func (p *Page) lists(ratings []int) bool {
	if !p.FromNewest || p.Size < 1 {
		return false
	}
	other := func(rating int) bool { return !slices.Contains(p.Filter.Ratings, rating) }
	return len(p.Filter.Ratings) == 0 || len(ratings) > 0 && !slices.ContainsFunc(ratings, other)
}
