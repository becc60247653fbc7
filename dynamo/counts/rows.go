package counts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
)

// How large the statistics of a product may become.
//
// The statistics item holds a row of counts for each language, and an item has at most 400 KB. So that many languages,
// which one author can make up, do not fill it, comment.MaxLanguageRows of them have a row there. All others share one
// row, comment.OtherLanguages, and the counts of each stand in its own item beside its place on the leaderboard:
// whatever the languages, each count is exact, and each item is small.
//
// Which row a language is counted in follows from the statistics item alone: in its own if there is one. A new language
// gets one while there is room and no language shares a row. So either all comments of a language are counted in a row of
// its own or none is, and marks need not say which. A rebuild gives the rows to the languages of most comments.

// attrRow is a list of the counts of 1 to 5 stars, in the item of a language without a row in the statistics item.
const attrRow = "c"

// rowOf is the language in whose row of a grid the comments of a language are counted.
func rowOf(stats comment.Stats, language comment.Language) comment.Language {
	if _, own := stats[language]; own {
		return language
	}
	if full(stats) {
		return comment.OtherLanguages
	}
	return language
}

// full tells whether a grid has no row for a further language.
func full(stats comment.Stats) bool {
	_, shared := stats[comment.OtherLanguages]
	return shared || len(stats) >= comment.MaxLanguageRows
}

// add counts n more comments of a cell, fewer if n is negative.
func (s *statistics) add(cell comment.Cell, n int) {
	row := rowOf(s.stats, cell.Language)
	if row == comment.OtherLanguages {
		s.others.Add(cell, n)
	}
	s.stats.Add(comment.Cell{Language: row, Rating: cell.Rating}, n)
}

// place is what the item of a language says.
func (s statistics) place(product string, language comment.Language) leaderPlace {
	if row, other := s.others[language]; other {
		return leaderPlace{product: product, language: language, count: row[comment.MaxRating-1], row: row}
	}
	return leaderPlace{product: product, language: language, count: s.stats[language][comment.MaxRating-1]}
}

// grid are the counts of all languages, as far as those that share a row are at hand.
func (s statistics) grid() comment.Stats {
	grid := s.stats.Clone()
	delete(grid, comment.OtherLanguages)
	for language, row := range s.others {
		for i, n := range row {
			grid.Add(comment.Cell{Language: language, Rating: i + 1}, n)
		}
	}
	return grid
}

// shared is what the row of the languages that share it has to say, empty if there are none.
func (s statistics) shared() comment.Counts { return s.others.Counts(comment.Filter{}) }

// arranged are statistics of the counts of all languages. Rows go to the languages that have one in kept if that leaves no
// more than fit, and else to those of most comments.
func arranged(grid, kept comment.Stats) statistics {
	s := statistics{stats: comment.Stats{}, others: comment.Stats{}}
	owners := rowOwners(grid, kept)
	for language, counts := range grid {
		if owners != nil && !owners[language] {
			s.others[language] = counts
			continue
		}
		s.stats[language] = counts
	}
	if shared := s.shared(); shared != (comment.Counts{}) {
		s.stats[comment.OtherLanguages] = shared
	}
	return s
}

// rowOwners are the languages that have rows of their own; nil for all.
func rowOwners(grid, kept comment.Stats) map[comment.Language]bool {
	_, shares := kept[comment.OtherLanguages]
	owners := map[comment.Language]bool{}
	for language := range grid {
		if _, own := kept[language]; own {
			owners[language] = true
		}
	}
	if shares && len(owners) <= comment.MaxLanguageRows {
		return owners
	}
	if len(grid) <= comment.MaxLanguageRows {
		return nil
	}
	byUse := slices.SortedFunc(maps.Keys(grid), func(a, b comment.Language) int {
		return cmp.Or(cmp.Compare(grid[b].Total(), grid[a].Total()), strings.Compare(string(a), string(b)))
	})
	clear(owners)
	for _, language := range byUse[:comment.MaxLanguageRows] {
		owners[language] = true
	}
	return owners
}

// rowOfItem reads the counts of a language that shares its row out of its item: none for one that does not.
func rowOfItem(it layout.Item) (row comment.Counts, err error) {
	if it[attrRow] == nil {
		return row, nil
	}
	if row, err = decodeCounts(it[attrRow]); err != nil {
		r := layout.NewReader(it)
		return comment.Counts{}, fmt.Errorf("item %s/%s: %w", r.Text(layout.AttrPK), r.Text(layout.AttrSK), err)
	}
	return row, nil
}

// countsList is a row as an item holds it.
func countsList(counts comment.Counts) *types.AttributeValueMemberL {
	list := make([]types.AttributeValue, len(counts))
	for i, n := range counts {
		list[i] = layout.Number(int64(n))
	}
	return &types.AttributeValueMemberL{Value: list}
}

// RowsOf fetches the counts of languages that share a row of the statistics of their products, at most MaxKeysPerGet
// different ones in one call, eventually consistently. One without comments, or with a row of its own, is missing from the
// answer; one that the table left out, or whose item is damaged, has an error among the failed.
func (r *Reader) RowsOf(ctx context.Context, languages []comment.ProductLanguage) (
	found map[comment.ProductLanguage]comment.Counts, failed map[comment.ProductLanguage]error, err error,
) {
	keys := make([]layout.Item, len(languages))
	for i, l := range languages {
		keys[i] = languageKey(l.Product, l.Language)
	}
	items, left, err := call.GetItems(ctx, r.client, r.table, types.KeysAndAttributes{Keys: keys})
	if err != nil {
		return nil, nil, call.Wrap(err, "BatchGetItem of the counts of %d languages", len(languages))
	}
	found, failed = make(map[comment.ProductLanguage]comment.Counts, len(items)), map[comment.ProductLanguage]error{}
	for _, it := range items {
		row, err := rowOfItem(it)
		if err != nil {
			failed[languageOfKey(it)] = err
			continue
		}
		found[languageOfKey(it)] = row
	}
	for _, key := range left {
		failed[languageOfKey(key)] = comment.Errorf(comment.Throttled, "the table is too busy to fetch these statistics; ask again in a moment")
	}
	return found, failed, nil
}

// languageOfKey is what the item of a language is about, by its primary key.
func languageOfKey(key layout.Item) comment.ProductLanguage {
	language := strings.TrimPrefix(layout.NewReader(key).Text(layout.AttrSK), languageSK)
	return comment.ProductLanguage{Product: layout.ProductOfKey(key), Language: comment.Language(language)}
}
