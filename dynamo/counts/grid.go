package counts

import (
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex/runs"
)

// bestCount returns the number of comments with the best rating, in one language, or in all if that
// is empty.
func bestCount(stats comment.Stats, language comment.Language) int {
	filter := comment.Filter{Ratings: []int{comment.MaxRating}}
	if language != "" {
		filter.Languages = []comment.Language{language}
	}
	return stats.Counts(filter)[comment.MaxRating-1]
}

// languagesOf returns all languages of some grids, sorted, without the row that languages share.
func languagesOf(grids ...comment.Stats) []comment.Language {
	var out []comment.Language
	for _, stats := range grids {
		for language := range stats {
			if language != comment.OtherLanguages {
				out = append(out, language)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// difference is a cell in which two grids differ, with both counts.
type difference struct {
	comment.Cell
	a, b int
}

// differencesOf returns the cells in which two grids differ, in order.
func differencesOf(a, b comment.Stats) (out []difference) {
	for _, language := range languagesOf(a, b) {
		rowA, rowB := a[language], b[language]
		setsA, setsB := rowA.Sets(), rowB.Sets()
		for rating := range comment.MaxRating {
			for traits := range setsA {
				cell := comment.Cell{Language: language, Rating: rating + 1, Traits: comment.Traits(traits)}
				if d := (difference{cell, setsA[traits][rating], setsB[traits][rating]}); d.a != d.b {
					out = append(out, d)
				}
			}
		}
	}
	return out
}

// addSplit adds the split of counts by traits to the item with the counts. It adds nothing if no
// comment has traits.
func addSplit(to layout.Item, stats comment.Stats) {
	if encoded := runs.EncodeSplit(stats); encoded != nil {
		to[layout.AttrSplit] = layout.Binary(encoded)
	}
}

// errSplit contains nothing of the item.
var errSplit = errors.New("the counts by traits do not belong to the counts: rebuild")

// splitIn splits counts by traits, as their item has them.
func splitIn(it layout.Item, stats comment.Stats) error {
	if it[layout.AttrSplit] == nil {
		return nil
	}
	stored, ok := it[layout.AttrSplit].(*types.AttributeValueMemberB)
	if !ok || runs.DecodeSplit(stored.Value, stats) != nil {
		return errSplit
	}
	return nil
}
