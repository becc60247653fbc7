package comment

import (
	"cmp"
	"maps"
	"slices"
	"time"
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

// Statistics are counts, and how fresh they are.
type Statistics struct {
	Counts
	// AsOf is a time up to which all changes of comments are known to be in the counts, nil when that is unknown.
	AsOf *time.Time
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

// MaxLanguageRows is how many languages of a product have a row of their own in its Stats.
const MaxLanguageRows = 100

// OtherLanguages is the row of Stats in which all languages without a row of their own are counted together. It is no
// language tag.
const OtherLanguages Language = "*"

// Stats are how many comments a product has, by language and rating. A language without comments is not among the keys.
// Of a product with very many languages, some share the row OtherLanguages: those have no row of their own.
// The zero value is that of a product without comments, and can be read but not added to.
type Stats map[Language]Counts

// Others are the languages of a list that have no row of their own, while some language shares the row OtherLanguages:
// how many comments they have, Stats cannot tell.
func (s Stats) Others(languages []Language) []Language {
	if _, shared := s[OtherLanguages]; !shared {
		return nil
	}
	var out []Language
	for _, language := range languages {
		if _, own := s[language]; !own {
			out = append(out, language)
		}
	}
	return out
}

// AtMost are the numbers of those comments that a filter may allow, as Counts: languages without a row of their own may be
// all that share one.
func (s Stats) AtMost(filter Filter) Counts {
	sum := s.Counts(filter)
	if len(filter.Languages) > 0 && len(s.Others(filter.Languages)) > 0 {
		sum.add(s[OtherLanguages], filter.Ratings)
	}
	return sum
}

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

// Counts are the numbers of those comments that a filter allows, whose dates are not looked at. It must be normalized, or
// name no language twice. Languages that are among Others count as none.
func (s Stats) Counts(filter Filter) Counts {
	var sum Counts
	if len(filter.Languages) == 0 {
		for _, counts := range s {
			sum.add(counts, filter.Ratings)
		}
	}
	for _, language := range filter.Languages {
		sum.add(s[language], filter.Ratings)
	}
	return sum
}

// add adds the counts of some ratings, of all if there are none.
func (c *Counts) add(more Counts, ratings []int) {
	if len(ratings) == 0 {
		for i, n := range more {
			c[i] += n
		}
	}
	for _, rating := range ratings {
		c[rating-1] += more[rating-1]
	}
}

// LanguageCount is how many comments are in a language.
type LanguageCount struct {
	// Language is canonical.
	Language Language
	// Count is above 0.
	Count int
}

// Languages are the languages of the comments that have a row of their own, that of most comments first, and by their tags
// among equals.
func (s Stats) Languages() []LanguageCount {
	counts := make([]LanguageCount, 0, len(s))
	for language, byRating := range s {
		if language != OtherLanguages {
			counts = append(counts, LanguageCount{Language: language, Count: byRating.Total()})
		}
	}
	slices.SortFunc(counts, func(a, b LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Language, b.Language))
	})
	return counts
}

// ProductLanguage is a language among the comments of a product.
type ProductLanguage struct {
	// Product is the id of the product.
	Product string
	// Language is canonical.
	Language Language
}

// Clone is a copy that can be added to.
func (s Stats) Clone() Stats {
	if s == nil {
		return Stats{}
	}
	return maps.Clone(s)
}

// Lengths of a leaderboard.
const (
	// DefaultLeaders is how many products a leaderboard has when no number is asked for.
	DefaultLeaders = 10
	// MaxLeaders is the longest leaderboard.
	MaxLeaders = 100
)

// Leader is a product on the leaderboard.
type Leader struct {
	// Rank is 1 for the first. No two products share one: among equals, the one whose id sorts first comes first.
	Rank int
	// Product is the id of the product.
	Product string
	// Count is how many comments of MaxRating stars it has, above 0.
	Count int
}
