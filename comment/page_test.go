package comment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

func TestSlicesThatCanBeRead(t *testing.T) {
	at := func(second int64) *comment.Place {
		return &comment.Place{Position: comment.PositionAt(time.Unix(second, 0), [10]byte{})}
	}
	for _, row := range []struct {
		why   string
		slice comment.Slice
		says  string // nothing if it can be read
	}{
		{"counts alone", comment.Slice{}, ""},
		{"the largest page", comment.Slice{Size: comment.MaxPageSize}, ""},
		{"a larger one", comment.Slice{Size: comment.MaxPageSize + 1}, "0 to 100 comments, not 101"},
		{"fewer than none", comment.Slice{Size: -1}, "not -1"},
		{"between two cursors, the newest first", comment.Slice{Size: 1, After: at(2), Before: at(1)}, ""},
		{"cursors the wrong way round", comment.Slice{Size: 1, After: at(1), Before: at(2)}, "swap them"},
		{"between a cursor and itself", comment.Slice{Size: 1, After: at(1), Before: at(1)}, "swap them"},
		{"the first page by its number", comment.Slice{Size: 1, Page: 1}, ""},
		{"the largest page by its number", comment.Slice{Size: comment.MaxPageSize, Page: 7}, ""},
		{"a page before the first", comment.Slice{Size: 1, Page: -1}, "pages count from 1"},
		{"a number from the end", comment.Slice{Size: 1, Page: 1, FromEnd: true}, "first, not with last"},
		{"a number behind a cursor", comment.Slice{Size: 1, Page: 1, After: at(1)}, "not both"},
		{"a number before a cursor", comment.Slice{Size: 1, Page: 1, Before: at(1)}, "not both"},
		{"a page by number without comments", comment.Slice{Page: 1}, "1 to 100 comments, not 0"},
	} {
		err := row.slice.Check(comment.NewestFirst)
		if row.says == "" && err != nil || row.says != "" && (comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), row.says)) {
			t.Errorf("%s: %v, want %q", row.why, err, row.says)
		}
	}
}

func TestLinkedPages(t *testing.T) {
	for _, row := range []struct {
		why                 string
		page, pages, around int
		want                []int
	}{
		{"no comments", 1, 0, 2, nil},
		{"the only page", 1, 1, 2, []int{1}},
		{"in the middle", 5, 9, 1, []int{1, 4, 5, 6, 9}},
		{"two on either side", 5, 9, 2, []int{1, 3, 4, 5, 6, 7, 9}},
		{"the neighbours at least", 5, 9, 0, []int{1, 4, 5, 6, 9}},
		{"the first", 1, 9, 1, []int{1, 2, 9}},
		{"the last", 9, 9, 1, []int{1, 8, 9}},
		{"beyond the last", 12, 9, 2, []int{1, 7, 8, 9}},
	} {
		if got := comment.LinkedPages(row.page, row.pages, row.around); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, want %v", row.why, got, row.want)
		}
	}
}

// The codes of a filter are those of the cells that its ratings and traits allow, and none at all if it has
// neither.
func TestCellCodes(t *testing.T) {
	yes, no := true, false
	traits := []*bool{nil, &yes, &no}
	for _, ratings := range [][]int{nil, {1}, {2, 5}} {
		for _, verified := range traits {
			for _, media := range traits {
				f := comment.Filter{Ratings: ratings, Verified: verified, WithMedia: media}
				var want []int
				for code := 1; code <= comment.MaxCellCode && (len(ratings) > 0 || verified != nil || media != nil); code++ {
					if cell, is := comment.CellOf("", code); is && f.AllowsCell(cell) {
						want = append(want, code)
					}
				}
				if got := f.CellCodes(); !slices.Equal(got, want) {
					t.Errorf("%v: %v, want %v", f, got, want)
				}
			}
		}
	}
}
