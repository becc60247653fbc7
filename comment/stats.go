package comment

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Counts are numbers of comments by rating: 1 star first, MaxRating stars last.
type Counts [MaxRating]int

// Add counts n more comments of a cell.
func (c *Counts) Add(cell Cell, n int) { c[cell.Rating-1] += n }

// Total returns the number of comments of all ratings.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// Of returns the number of comments of some ratings, of all if there are none.
func (c Counts) Of(ratings []int) (total int) {
	if len(ratings) == 0 {
		return c.Total()
	}
	for _, rating := range ratings {
		total += c[rating-1]
	}
	return total
}

// Average returns the mean rating, exact to the rounding of a float64; 0 and false if there are no
// comments.
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
	// AsOf is a time up to which the counts include all changes of comments, nil if unknown.
	AsOf *time.Time
}

// RatingCount is how many comments have a rating.
type RatingCount struct {
	// Rating is 1 to MaxRating.
	Rating int
	// Count may be 0.
	Count int
}

// Ratings returns a row for each rating, the best first, with rows whose count is 0.
func (c Counts) Ratings() []RatingCount {
	rows := make([]RatingCount, 0, len(c))
	for i, n := range slices.Backward(c[:]) {
		rows = append(rows, RatingCount{Rating: i + 1, Count: n})
	}
	return rows
}

// MaxLanguageRows is how many languages of a product have a row of their own in its Stats.
const MaxLanguageRows = 100

// OtherLanguages is the row of Stats that counts all languages without a row of their own. It is no
// language tag.
const OtherLanguages Language = "*"

// Stats are numbers of comments of a product, by language and rating. A language without comments
// has no key. If a product has very many languages, some have no row of their own and share the row
// OtherLanguages. The zero value is that of a product without comments. It can be read, but Add
// panics on it.
type Stats map[Language]Counts

// Others returns those of the languages that have no row of their own, if the row OtherLanguages
// exists. Stats does not tell how many comments they have.
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

// AtMost returns upper bounds of the numbers of comments that a filter allows, like Counts. It
// assumes that all comments of a shared row may be of a selected language without a row.
func (s Stats) AtMost(filter Filter) Counts {
	sum := s.Counts(filter)
	if len(filter.Languages) > 0 && len(s.Others(filter.Languages)) > 0 {
		sum.add(s[OtherLanguages], filter.Ratings)
	}
	return sum
}

// Add counts n more comments of a cell, fewer if n is negative. It removes a language whose counts
// become zero.
func (s Stats) Add(cell Cell, n int) {
	counts := s[cell.Language]
	counts.Add(cell, n)
	if counts == (Counts{}) {
		delete(s, cell.Language)
		return
	}
	s[cell.Language] = counts
}

// Counts returns the numbers of comments that a filter allows, regardless of its dates. The filter
// must be normalized, or at least name no language twice. Languages among Others count as none.
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

// add adds the counts of some ratings, or of all if ratings is empty.
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

// LanguageCount is the number of comments in a language.
type LanguageCount struct {
	// Language is canonical.
	Language Language
	// Count is above 0.
	Count int
}

// Languages returns the languages with a row of their own, by descending number of comments and
// then by tag.
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

// Clone returns a copy that can be added to.
func (s Stats) Clone() Stats {
	if s == nil {
		return Stats{}
	}
	return maps.Clone(s)
}

// Lengths of a leaderboard.
const (
	// DefaultLeaders is the length of a leaderboard unless another is requested.
	DefaultLeaders = 10
	// MaxLeaders is the longest leaderboard.
	MaxLeaders = 100
)

// Leader is a product on the leaderboard.
type Leader struct {
	// Rank is 1 for the first product. Ranks are unique: among equal counts, the lowest ID comes
	// first.
	Rank int
	// Product is the id of the product.
	Product string
	// Count is how many comments of MaxRating stars it has, above 0.
	Count int
}
