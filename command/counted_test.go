package command_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// shownCounts is of counts what the API shows.
type shownCounts struct {
	Total   int
	Average *float64
	Ratings []struct{ Rating, Count int }
}

const countsFields = `{ total average ratings { rating count } }`

// shownCountsOf is how the API shows counts.
func shownCountsOf(counts comment.Counts) shownCounts {
	out := shownCounts{Total: counts.Total()}
	if mean, any := counts.Average(); any {
		out.Average = &mean
	}
	for rating := comment.MaxRating; rating >= 1; rating-- {
		out.Ratings = append(out.Ratings, struct{ Rating, Count int }{rating, counts[rating-1]})
	}
	return out
}

// checkStatistics holds all that the API says of counts against the model: statistics, languages, totals and leaderboards.
func (s *scribe) checkStatistics(products ...string) {
	s.tb.Helper()
	languages := map[comment.Language]bool{}
	for _, product := range products {
		stats := s.model.Stats(product)
		for language := range stats {
			languages[language] = true
		}
		s.checkProduct(product, stats)
		for filters := range slices.Chunk(s.filters(), 8) {
			s.checkTotals(product, filters)
		}
	}
	s.checkLeaders("")
	for language := range languages {
		s.checkLeaders(language)
	}
}

// checkProduct looks at the statistics of a product and of each of its languages.
func (s *scribe) checkProduct(product string, stats comment.Stats) {
	s.tb.Helper()
	var data struct {
		Product struct {
			Stats     shownCounts
			Languages []comment.LanguageCount
			None      shownCounts
		}
	}
	s.mustAsk(`query ($id: ID!) { product(id: $id) { stats `+countsFields+` languages { language count } none: stats(lang: "tlh") `+countsFields+` } }`,
		map[string]any{"id": product}, &data)
	s.equal(product+": stats", shownCountsOf(stats.Counts(comment.Filter{})), data.Product.Stats)
	s.equal(product+": languages", stats.Languages(), data.Product.Languages)
	s.equal(product+": stats of a language without comments", shownCountsOf(comment.Counts{}), data.Product.None)
	for _, one := range stats.Languages() {
		var data struct{ Product struct{ Stats shownCounts } }
		s.mustAsk(`query ($id: ID!, $lang: Language!) { product(id: $id) { stats(lang: $lang) `+countsFields+` } }`,
			map[string]any{"id": product, "lang": one.Language}, &data)
		s.equal(fmt.Sprintf("%s: stats of %s", product, one.Language),
			shownCountsOf(stats.Counts(comment.Filter{Languages: []comment.Language{one.Language}})), data.Product.Stats)
	}
}

// filters are all sets of ratings, each with some languages.
func (s *scribe) filters() []comment.Filter {
	var out []comment.Filter
	for _, ratings := range ratingSets() {
		sets := languageSets(s.random)
		out = append(out, comment.Filter{Ratings: ratings, Languages: sets[s.random.IntN(len(sets))]})
	}
	return out
}

// checkTotals looks at the totals of lists.
func (s *scribe) checkTotals(product string, filters []comment.Filter) {
	s.tb.Helper()
	var declared, asked strings.Builder
	variables := map[string]any{"id": product}
	for i, f := range filters {
		fmt.Fprintf(&declared, ", $f%d: CommentFilter", i)
		fmt.Fprintf(&asked, " f%d: comments(filter: $f%d, first: 1) { totalCount stats %s }", i, i, countsFields)
		variables[fmt.Sprint("f", i)] = map[string]any{"ratings": f.Ratings, "languages": f.Languages}
	}
	var data struct {
		Product map[string]struct {
			TotalCount int
			Stats      shownCounts
		}
	}
	s.mustAsk(`query ($id: ID!`+declared.String()+`) { product(id: $id) {`+asked.String()+` } }`, variables, &data)
	for i, f := range filters {
		normalized, err := f.Normalize()
		if err != nil {
			s.tb.Fatal(err)
		}
		got, want := data.Product[fmt.Sprint("f", i)], s.model.Stats(product).Counts(normalized)
		s.equal(fmt.Sprintf("%s: total of %v", product, f), want.Total(), got.TotalCount)
		s.equal(fmt.Sprintf("%s: stats of %v", product, f), shownCountsOf(want), got.Stats)
		if listed := len(s.model.List(product, normalized, comment.NewestFirst)); listed != want.Total() {
			s.tb.Fatalf("the model contradicts itself: %d and %d", listed, want.Total())
		}
	}
}

// checkLeaders looks at the leaderboard of a language, or of all.
func (s *scribe) checkLeaders(language comment.Language) {
	s.tb.Helper()
	variables := map[string]any{}
	if language != "" {
		variables["language"] = language
	}
	var data struct {
		Leaderboard []struct {
			Rank    int
			Product struct{ ID string }
			Count   int
		}
	}
	s.mustAsk(`query ($language: Language) { leaderboard(first: 20, language: $language) { rank product { id } count } }`, variables, &data)
	var got []comment.Leader
	for _, entry := range data.Leaderboard {
		got = append(got, comment.Leader{Rank: entry.Rank, Product: entry.Product.ID, Count: entry.Count})
	}
	s.equal(fmt.Sprintf("leaderboard of %q", language), s.model.Leaders(language, 20), got)
}

func (s *scribe) equal(what string, want, got any) {
	s.tb.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		s.tb.Errorf("%s: %s", what, diff)
	}
}

// shelf are the products that writes are spread over.
var shelf = []string{"globe", "a/b#c", "ü"}

// writeAnywhere makes a random mutation on one of the products.
func (s *scribe) writeAnywhere() {
	s.tb.Helper()
	s.product = shelf[s.random.IntN(len(shelf))]
	s.write()
}

// newScribe is a scribe of its own model.
func newScribe(a *api) *scribe {
	a.tb.Helper()
	return &scribe{api: a, random: commenttest.Rand(a.tb), model: commenttest.NewModel()}
}
