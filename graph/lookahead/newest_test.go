package lookahead_test

import (
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph/lookahead"
)

// Fields that show newest comments look at the largest page that lists all of theirs, and two of
// them share a sample if there is none.
func TestNewest(t *testing.T) {
	page := func(size int, ratings ...int) lookahead.Field {
		return lookahead.Field{Kind: lookahead.Comments, Page: &lookahead.Page{FromNewest: true, Query: comment.Query{Filter: comment.Filter{Ratings: ratings}, Slice: comment.Slice{Size: size}}}}
	}
	rated := func(name string) lookahead.Field {
		return lookahead.Field{Field: &ast.Field{Name: name}, OrLatest: true}
	}
	latest, positive, helpful, negative := lookahead.Field{Kind: lookahead.Latest}, rated("latestPositive"), rated("mostHelpfulPositive"), rated("latestNegative")
	others := page(9)
	others.Page.FromNewest = false
	for _, row := range []struct {
		why                           string
		fields                        []lookahead.Field
		any, sampled                  bool
		ofAll, ofPositive, ofNegative int // the sizes of the pages that are looked at
	}{
		{"a page alone", []lookahead.Field{page(3)}, false, false, 3, 3, 3},
		{"the newest", []lookahead.Field{latest}, true, false, 0, 0, 0},
		{"one rated", []lookahead.Field{positive}, true, false, 0, 0, 0},
		{"the same ratings twice", []lookahead.Field{positive, helpful, positive}, true, false, 0, 0, 0},
		{"two", []lookahead.Field{positive, negative}, true, true, 0, 0, 0},
		{"one rated, and the newest", []lookahead.Field{negative, latest}, true, true, 0, 0, 0},
		{"the larger page", []lookahead.Field{page(3), latest, page(5), page(4)}, true, false, 5, 5, 5},
		{"a page of some ratings", []lookahead.Field{page(3, 4, 5), positive}, true, false, 0, 3, 0},
		{"of more ratings", []lookahead.Field{page(3, 3, 4, 5), positive}, true, false, 0, 3, 0},
		{"of fewer ratings", []lookahead.Field{page(3, 5), positive}, true, false, 0, 0, 0},
		{"a page without comments", []lookahead.Field{page(0), positive}, true, false, 0, 0, 0},
		{"a page of others than the newest", []lookahead.Field{others, positive}, true, false, 0, 0, 0},
	} {
		asked := lookahead.NewestOf(row.fields)
		if asked.Any() != row.any || asked.Sampled() != row.sampled {
			t.Errorf("%s: any %v, sampled %v, want %v, %v", row.why, asked.Any(), asked.Sampled(), row.any, row.sampled)
		}
		size := func(ratings []int) int {
			if field := asked.Page(ratings); field != nil {
				return field.Page.Slice.Size
			}
			return 0
		}
		if a, p, n := size(nil), size(lookahead.PositiveRatings), size(lookahead.NegativeRatings); a != row.ofAll || p != row.ofPositive || n != row.ofNegative {
			t.Errorf("%s: pages of %d, %d and %d comments, want %d, %d and %d", row.why, a, p, n, row.ofAll, row.ofPositive, row.ofNegative)
		}
	}
}
