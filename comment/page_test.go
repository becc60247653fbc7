package comment_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
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
	for _, order := range commenttest.Orders() {
		first, last := at(1), at(2)
		if order.Descends() {
			first, last = last, first
		}
		if err := (comment.Slice{Size: 1, After: first, Before: last}).Check(order); err != nil {
			t.Errorf("%s: between two cursors: %v", order, err)
		}
		if err := (comment.Slice{Size: 1, After: last, Before: first}).Check(order); err == nil {
			t.Errorf("%s: between cursors the wrong way round", order)
		}
	}
}

// A page by cursor has the number of the page that begins closest to it.
func TestNumber(t *testing.T) {
	for _, row := range []struct {
		why               string
		slice             comment.Slice
		after, end, total int
		want              int
	}{
		{"the first page", comment.Slice{Size: 5}, 0, 12, 12, 1},
		{"a page by its number", comment.Slice{Size: 5, Page: 9}, 0, 12, 12, 9},
		{"no comments on a page", comment.Slice{}, 0, 12, 12, 0},
		{"behind the first page", comment.Slice{Size: 5, After: &comment.Place{}}, 5, 12, 12, 2},
		{"two comments behind its beginning", comment.Slice{Size: 5, After: &comment.Place{}}, 7, 12, 12, 2},
		{"three comments behind its beginning", comment.Slice{Size: 5, After: &comment.Place{}}, 8, 12, 12, 3},
		{"past the middle of the last page", comment.Slice{Size: 5, After: &comment.Place{}}, 9, 9, 9, 3},
		{"its last comment", comment.Slice{Size: 5, After: &comment.Place{}}, 8, 9, 9, 2},
		{"the last five comments", comment.Slice{Size: 5, FromEnd: true}, 0, 10, 10, 2},
		{"the five before a cursor", comment.Slice{Size: 5, FromEnd: true, Before: &comment.Place{}}, 0, 5, 12, 1},
		{"two between cursors, from the end", comment.Slice{Size: 5, FromEnd: true, After: &comment.Place{}, Before: &comment.Place{}}, 10, 12, 12, 3},
	} {
		if got := row.slice.Number(row.after, row.end, row.total); got != row.want {
			t.Errorf("%s: %d, want %d", row.why, got, row.want)
		}
	}
}

// Places are looked up for links, for lists that statistics do not count, and for the number of a
// page by cursor.
func TestLooksUp(t *testing.T) {
	cursor := &comment.Place{}
	dated := comment.Filter{CreatedAfter: new(time.Unix(1, 0))}
	for _, row := range []struct {
		why  string
		q    comment.Query
		want bool
	}{
		{"nothing is asked", comment.Query{Filter: dated, Slice: comment.Slice{Size: 5, After: cursor}}, false},
		{"links", comment.Query{Slice: comment.Slice{Size: 5}, Numbering: comment.Numbering{Links: true}}, true},
		{"pages of a counted list", comment.Query{Slice: comment.Slice{Size: 5, After: cursor}, Numbering: comment.Numbering{Count: true}}, false},
		{"pages of a range of dates", comment.Query{Filter: dated, Slice: comment.Slice{Size: 5}, Numbering: comment.Numbering{Count: true}}, true},
		{"pages without comments, of which there are none", comment.Query{Filter: dated, Numbering: comment.Numbering{Count: true, Links: true}}, false},
		{"the number of the first page", comment.Query{Slice: comment.Slice{Size: 5, Before: cursor}, Numbering: comment.Numbering{Number: true}}, false},
		{"that of a range of dates", comment.Query{Filter: dated, Slice: comment.Slice{Size: 5}, Numbering: comment.Numbering{Number: true}}, false},
		{"that of a page without comments, which is none", comment.Query{Filter: dated, Numbering: comment.Numbering{Number: true}}, false},
		{"the number of a page behind a cursor", comment.Query{Slice: comment.Slice{Size: 5, After: cursor}, Numbering: comment.Numbering{Number: true}}, true},
		{"the number of a page before a cursor", comment.Query{Slice: comment.Slice{Size: 5, FromEnd: true, Before: cursor}, Numbering: comment.Numbering{Number: true}}, true},
		{"the number of the last page", comment.Query{Slice: comment.Slice{Size: 5, FromEnd: true}, Numbering: comment.Numbering{Number: true}}, false},
	} {
		if got := row.q.LooksUp(); got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}

// A page beyond the last has the links of the last. A page that the list no longer has gets none.
func TestLinks(t *testing.T) {
	starts := map[int]comment.Place{}
	for page := 2; page <= 11; page++ { // the list had 11 pages when they were looked up
		starts[page] = comment.Place{Position: comment.Position{15: byte(page)}}
	}
	number := func(link *comment.PageLink) int {
		switch {
		case link == nil:
			return 0
		case (link.After == nil) != (link.Page == 1), link.After != nil && *link.After != starts[link.Page]:
			t.Errorf("page %d begins behind %v", link.Page, link.After)
		}
		return link.Page
	}
	for page, want := range map[int][]int{
		1:  {1, 0, 2, 9, 1, 2, 3},
		9:  {1, 8, 0, 9, 7, 8, 9},
		12: {1, 9, 0, 9, 7, 8, 9},
	} {
		links := comment.Numbered{Page: page, Pages: 9, Starts: starts}.Links(2)
		got := []int{number(links.First), number(links.Previous), number(links.Next), number(links.Last)}
		for _, link := range links.Around {
			if got = append(got, number(&link)); link.IsCurrent != (link.Page == page) {
				t.Errorf("page %d is the current one: %v", link.Page, link.IsCurrent)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("page %d links to the first, previous, next, last and those around %v, want %v", page, got, want)
		}
	}
}

// Each cell has a code of its own, and no other number is one.
func TestCodesOfCells(t *testing.T) {
	cells := map[int]comment.Cell{}
	for rating := 1; rating <= comment.MaxRating; rating++ {
		for traits := range comment.Traits(comment.TraitSets) {
			cell := comment.Cell{Language: "en", Rating: rating, Traits: traits}
			cells[cell.Code()] = cell
		}
	}
	for code := -300; code <= 600; code++ {
		cell, is := comment.CellOf("en", code)
		if want, known := cells[code]; is != known || is && cell != want {
			t.Errorf("%d is the code of %v, %v, want %v", code, cell, is, want)
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

// The codes of a filter are those of the cells that its ratings and traits allow, and none at all
// if it has neither.
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
