package comment

import (
	"cmp"
	"maps"
	"slices"
)

// Cell is a square of the language x rating grid: what a comment is counted as.
type Cell struct {
	// Language is canonical.
	Language Language
	// Rating is 1 to MaxRating.
	Rating int
}

// Cell is what the comment is counted as.
func (c Comment) Cell() Cell { return Cell{Language: c.Language, Rating: c.Rating} }

// Counts are numbers of comments by rating: that of 1 star first, that of MaxRating stars last.
type Counts [MaxRating]int

// Total is the number of comments of all ratings.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Average is the mean rating, exact but for the rounding of a float64; 0 and false when there are no comments.
func (c Counts) Average() (mean float64, any bool) {
	stars, total := 0, c.Total()
	for i, n := range c {
		stars += (i + 1) * n
	}
	if total == 0 {
		return 0, false
	}
	return float64(stars) / float64(total), true
}

// RatingCount is how many comments have a rating.
type RatingCount struct {
	// Rating is 1 to MaxRating.
	Rating int
	// Count may be 0.
	Count int
}

// Ratings are the counts row by row, the best rating first; those that are 0 too.
func (c Counts) Ratings() []RatingCount {
	rows := make([]RatingCount, 0, len(c))
	for i, n := range slices.Backward(c[:]) {
		rows = append(rows, RatingCount{Rating: i + 1, Count: n})
	}
	return rows
}

// Stats are how many comments a product has, by language and rating. A language without comments is not among the keys.
// The zero value is that of a product without comments, and can be read but not added to.
type Stats map[Language]Counts

// Add counts n more comments of a cell, fewer if n is negative. A language whose counts are all zero then is dropped.
func (s Stats) Add(cell Cell, n int) {
	counts := s[cell.Language]
	counts[cell.Rating-1] += n
	if counts == (Counts{}) {
		delete(s, cell.Language)
		return
	}
	s[cell.Language] = counts
}

// Counts are the numbers of those comments that a filter allows, whose dates are not looked at.
func (s Stats) Counts(filter Filter) Counts {
	var sum Counts
	for language, counts := range s {
		if len(filter.Languages) > 0 && !slices.Contains(filter.Languages, language) {
			continue
		}
		for i, n := range counts {
			if len(filter.Ratings) == 0 || slices.Contains(filter.Ratings, i+1) {
				sum[i] += n
			}
		}
	}
	return sum
}

// LanguageCount is how many comments are in a language.
type LanguageCount struct {
	// Language is canonical.
	Language Language
	// Count is above 0.
	Count int
}

// Languages are the languages of the comments, that of most comments first, and by their tags among equals.
func (s Stats) Languages() []LanguageCount {
	counts := make([]LanguageCount, 0, len(s))
	for language, byRating := range s {
		counts = append(counts, LanguageCount{Language: language, Count: byRating.Total()})
	}
	slices.SortFunc(counts, func(a, b LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Language, b.Language))
	})
	return counts
}

// Clone is a copy that can be added to.
func (s Stats) Clone() Stats {
	if s == nil {
		return Stats{}
	}
	return maps.Clone(s)
}

// Leader is a product on the leaderboard.
type Leader struct {
	// Rank is 1 for the first. No two products share one: among equals, the one whose id sorts first comes first.
	Rank int
	// Product is the id of the product.
	Product string
	// Count is how many comments of MaxRating stars it has, above 0.
	Count int
}
