package dynamo

import (
	"slices"

	"github.com/talkback/talkback/comment"
)

// maxReads is how many partitions a plan reads at once, unless there is no way with fewer. Each call costs at least half
// a read unit and a connection.
const maxReads = 32

// Cover is a set of index partitions that holds every comment a filter allows exactly once, and perhaps others.
type Cover []Partition

// Chooser picks the cover to read. Covers are those of covers(filter): at least one, the narrowest first.
type Chooser func(filter comment.Filter, covers []Cover) Cover

// covers lists the covers of a normalized filter that use one index each, the one that holds least beside what the
// filter chooses first. The last is always the whole product.
func covers(filter comment.Filter) []Cover {
	var out []Cover
	if len(filter.Languages) > 0 && len(filter.Ratings) > 0 {
		out = append(out, cells(filter))
	}
	if len(filter.Ratings) > 0 {
		out = append(out, byRating(filter))
	}
	if len(filter.Languages) > 0 {
		out = append(out, byLanguage(filter))
	}
	return append(out, Cover{{Index: All}})
}

func cells(filter comment.Filter) Cover {
	var cover Cover
	for _, language := range filter.Languages {
		for _, rating := range filter.Ratings {
			cover = append(cover, Partition{Index: ByLangAndRating, Language: language, Rating: rating})
		}
	}
	return cover
}

func byLanguage(filter comment.Filter) Cover {
	var cover Cover
	for _, language := range filter.Languages {
		cover = append(cover, Partition{Index: ByLang, Language: language})
	}
	return cover
}

func byRating(filter comment.Filter) Cover {
	var cover Cover
	for _, rating := range filter.Ratings {
		cover = append(cover, Partition{Index: ByRating, Rating: rating})
	}
	return cover
}

// chooseNarrowest takes the first cover of at most maxReads partitions: without statistics, a read that can only return
// what is wanted is a better bet than one that may look at a whole product for a rare language.
func chooseNarrowest(_ comment.Filter, covers []Cover) Cover {
	for _, cover := range covers {
		if len(cover) <= maxReads {
			return cover
		}
	}
	return slices.MinFunc(covers, func(a, b Cover) int { return len(a) - len(b) })
}

// residual is what the filter chooses of a partition that holds more: nil where the partition holds nothing else.
func (p Partition) residual(filter comment.Filter) (languages []comment.Language, ratings []int) {
	if !p.Index.splitsByLanguage() {
		languages = filter.Languages
	}
	if !p.Index.splitsByRating() {
		ratings = filter.Ratings
	}
	return languages, ratings
}
