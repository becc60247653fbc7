package comment

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Statistics are counts, and how fresh they are.
type Statistics struct {
	Counts
	// AsOf is a time up to which the counts include all changes of comments, nil if unknown.
	AsOf *time.Time

	of *selection // nil if it is unknown which of these comments have traits
}

// selection is the Stats that were counted, with the filter.
type selection struct {
	stats  Stats
	filter Filter
}

// Verified returns how many of these comments are verified purchases, nil if that is unknown.
func (s Statistics) Verified() *int { return s.having(IsVerified) }

// WithMedia returns how many of these comments have pictures or videos, nil if that is unknown.
func (s Statistics) WithMedia() *int { return s.having(HasMedia) }

// having returns how many of these comments have a trait, nil if that is unknown.
func (s Statistics) having(trait Traits) *int {
	if s.of == nil {
		return nil
	}
	only, n := s.of.filter, 0
	if wanted := only.wants(trait); *wanted == nil || **wanted {
		*wanted = new(true)
		n = s.of.stats.Counts(only).Total()
	}
	return &n
}

// MaxLanguageRows is how many languages of a product have a row of their own in its Stats.
const MaxLanguageRows = 100

// OtherLanguages is the row of Stats that counts all languages without a row of their own. It is no
// language tag.
const OtherLanguages Language = "*"

// Stats are numbers of comments of a product, by language, rating and traits. A language without
// comments has no key. If a product has very many languages, some have no row of their own and
// share the row OtherLanguages. The zero value is that of a product without comments. It can be
// read, but Add panics on it.
type Stats map[Language]Row

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

// Statistics returns how many comments a filter allows, regardless of its dates, like Counts.
func (s Stats) Statistics(filter Filter) Statistics {
	return Statistics{Counts: s.Counts(filter), of: &selection{s, filter}}
}

// AtMost returns upper bounds of the numbers of comments that a filter allows, like Counts. It
// assumes that all comments of a shared row may be of a selected language without a row.
func (s Stats) AtMost(filter Filter) Counts {
	sum := s.Counts(filter)
	if len(filter.Languages) > 0 && len(s.Others(filter.Languages)) > 0 {
		shared := s[OtherLanguages]
		sum.add(shared.Allowed(filter), filter.Ratings)
	}
	return sum
}

// Add counts n more comments of a cell, fewer if n is negative. It removes a language whose counts
// become zero.
func (s Stats) Add(cell Cell, n int) {
	row := s[cell.Language]
	row.Add(cell, n)
	if row == (Row{}) {
		delete(s, cell.Language)
		return
	}
	s[cell.Language] = row
}

// Counts returns the numbers of comments that a filter allows, regardless of its dates. The filter
// must be normalized, or at least name no language twice. Languages among Others count as none.
func (s Stats) Counts(filter Filter) Counts {
	var sum Counts
	if len(filter.Languages) == 0 {
		for _, row := range s {
			sum.add(row.Allowed(filter), filter.Ratings)
		}
	}
	for _, language := range filter.Languages {
		row := s[language]
		sum.add(row.Allowed(filter), filter.Ratings)
	}
	return sum
}

// Total returns the number of all comments.
func (s Stats) Total() int { return s.Counts(Filter{}).Total() }

// LanguageCount is the number of comments in a language.
type LanguageCount struct {
	// Language is canonical.
	Language Language
	// Count is above 0.
	Count int
}

// Languages returns the languages with a row of their own, by descending number of the comments
// that a filter without dates allows, and then by tag. It leaves out those without any.
func (s Stats) Languages(of Filter) []LanguageCount {
	counts := make([]LanguageCount, 0, len(s))
	for language, row := range s {
		if language == OtherLanguages || len(of.Languages) > 0 && !slices.Contains(of.Languages, language) {
			continue
		}
		if n := row.Allowed(of).Of(of.Ratings); n > 0 {
			counts = append(counts, LanguageCount{Language: language, Count: n})
		}
	}
	slices.SortFunc(counts, func(a, b LanguageCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Language, b.Language))
	})
	return counts
}

// ProductLanguage is a language among the comments of a product.
type ProductLanguage struct {
	Product string // its id
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
	Rank    int
	Product string // its id
	// Count is how many comments of MaxRating stars it has, above 0.
	Count int
}
