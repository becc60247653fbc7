package pageindex_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// countingIndex is an index that records the number of places that each call asks for.
type countingIndex struct {
	pageindex.Index
	places []int
	lazy   bool // finds no place but the start, unless an exact one is wanted
}

func (a *countingIndex) Find(ctx context.Context, list pageindex.List, targets []pageindex.Target) (pageindex.Found, error) {
	a.places = append(a.places, len(targets))
	found, err := a.Index.Find(ctx, list, targets)
	for i, target := range targets {
		if a.lazy && target.At == nil && !target.Exact {
			found.Boundaries[i] = pageindex.Boundary{}
		}
	}
	found.Cost = pageindex.Cost{Calls: 1, Waves: 1, ReadUnits: 0.5}
	return found, err
}

// position returns the position of the comment with a number, the oldest first.
func position(number int) comment.Position {
	return comment.FirstAt(time.UnixMilli(int64(1000 + number)))
}

func hundred(t *testing.T) *countingIndex {
	t.Helper()
	model := conformance.NewModel()
	for i := range 100 {
		entry := pageindex.Entry{Product: "42", Position: position(i), Cell: &comment.Cell{Language: "en", Rating: 1 + i%5}, Follows: "1"}
		must.Do(t, model.Apply(t.Context(), []pageindex.Entry{entry}))
	}
	return &countingIndex{Index: model}
}

// Each row is a lookup in a list of a hundred comments, with pages of ten: the places asked for by
// each call, and the result.
func TestLookup(t *testing.T) {
	at := func(number int) *comment.Place { return comment.At(position(number)) }
	links := comment.Numbering{Links: true, Around: 1}
	for _, row := range []struct {
		why       string
		slice     comment.Slice
		numbering comment.Numbering
		place     bool
		total     int // number of comments that the caller assumes
		calls     []int
		page      int
		starts    []int // pages whose beginnings are found
	}{
		{"a count needs no places", comment.Slice{Size: 10}, comment.Numbering{Count: true}, false, 0, []int{0}, 0, nil},
		{"the place of a page", comment.Slice{Size: 10, Page: 4}, comment.Numbering{}, true, 0, []int{1}, 4, nil},
		{"one call finds all links if the last page was guessed", comment.Slice{Size: 10, Page: 4}, links, true, 95, []int{4}, 4, []int{3, 4, 5, 10}},
		{"otherwise a second finds it", comment.Slice{Size: 10, Page: 4}, links, true, 0, []int{3, 1}, 4, []int{3, 4, 5, 10}},
		{"a wrong guess is a link that is not used", comment.Slice{Size: 10, Page: 4}, links, true, 55, []int{4, 1}, 4, []int{3, 4, 5, 6, 10}},
		{"a guess beyond the end is none", comment.Slice{Size: 10, Page: 4}, links, true, 400, []int{4, 1}, 4, []int{3, 4, 5, 10}},
		{"near the end no second call is needed", comment.Slice{Size: 10, Page: 9}, links, true, 0, []int{3}, 9, []int{8, 9, 10}},
		{"a page beyond the end links to the last", comment.Slice{Size: 10, Page: 14}, links, true, 0, []int{3, 2}, 14, []int{9, 10}},
		{"a page by cursor is looked up, then its neighbours", comment.Slice{Size: 10, After: at(60)}, links, false, 100, []int{1, 4}, 5, []int{4, 5, 6, 10}},
		{"shifted by a few comments, it is still that page", comment.Slice{Size: 10, After: at(57)}, comment.Numbering{Number: true}, false, 0, []int{1}, 5, nil},
		{"shifted by more, it is the next", comment.Slice{Size: 10, After: at(54)}, comment.Numbering{Number: true}, false, 0, []int{1}, 6, nil},
		{"backwards from a cursor", comment.Slice{Size: 10, FromEnd: true, Before: at(59)}, comment.Numbering{Number: true}, false, 0, []int{1}, 4, nil},
		{"backwards, shifted by a few comments", comment.Slice{Size: 10, FromEnd: true, Before: at(45)}, comment.Numbering{Number: true}, false, 0, []int{1}, 5, nil},
		{"backwards, shifted by one more", comment.Slice{Size: 10, FromEnd: true, Before: at(44)}, comment.Numbering{Number: true}, false, 0, []int{1}, 6, nil},
		{"backwards from the end", comment.Slice{Size: 10, FromEnd: true}, comment.Numbering{Number: true}, false, 0, []int{0}, 10, nil},
		{"from the end, after a cursor", comment.Slice{Size: 10, FromEnd: true, After: at(4)}, comment.Numbering{Number: true}, false, 0, []int{1}, 10, nil},
		{"nothing is left behind a cursor", comment.Slice{Size: 10, After: at(0)}, comment.Numbering{Number: true}, false, 0, []int{1}, 11, nil},
		{"a list of one page links to itself", comment.Slice{Size: 100}, links, false, 100, nil, 1, nil},
		{"unless its size is only believed", comment.Slice{Size: 100}, links, false, 99, []int{0}, 1, nil},
		{"pages of no comments have no numbers", comment.Slice{After: at(60)}, comment.Numbering{Number: true, Count: true, Links: true}, false, 100, []int{0}, 0, nil},
	} {
		index := hundred(t)
		var exact comment.Stats
		if row.total == 100 {
			exact = comment.Stats{"en": {Counts: comment.Counts{20, 20, 20, 20, 20}}}
		}
		l := pageindex.NewNumbers(index, pageindex.NumbersWanted{
			List: pageindex.List{Product: "42", Order: comment.NewestFirst}, Slice: row.slice, Place: row.place, MostSkip: 30,
			Numbering: row.numbering, Total: row.total, Exact: exact,
		})
		must.Do(t, l.Begin(t.Context()))
		must.Do(t, l.Finish(t.Context()))
		if diff := cmp.Diff(row.calls, index.places); diff != "" || l.Cost.Calls != len(row.calls) || l.Cost.Waves != len(row.calls) {
			t.Errorf("%s: places by call %s, cost %+v", row.why, diff, l.Cost)
		}
		got := l.Numbered()
		if got.Page != row.page || got.Counted && (got.Total != 100 || got.Pages != comment.Pages(100, row.slice.Size)) {
			t.Errorf("%s: %+v", row.why, got)
		}
		want := map[int]comment.Place{}
		for _, page := range row.starts {
			want[page] = *comment.At(position(100 - 10*(page-1))) // the page begins after that comment, newest first
		}
		check.Equal(t, want, got.Starts, row.why)
		if row.place && row.slice.Page <= 10 && l.Start.Rank != row.slice.Rank() {
			t.Errorf("%s: the page begins at %d", row.why, l.Start.Rank)
		}
	}
}

// If the place that an index finds is too far from the page, it is asked again, for the exact
// place.
func TestTooFarFromThePageIsAskedAgain(t *testing.T) {
	for _, row := range []struct {
		page, start int
		calls       []int
	}{
		{4, 0, []int{1}},
		{5, 40, []int{1, 1}},
		{11, 0, []int{1}}, // beyond the end: there is nothing to read
	} {
		index := hundred(t)
		index.lazy = true
		l := pageindex.NewNumbers(index, pageindex.NumbersWanted{
			List: pageindex.List{Product: "42", Order: comment.OldestFirst}, Slice: comment.Slice{Size: 10, Page: row.page}, Place: true, MostSkip: 30,
		})
		must.Do(t, l.Begin(t.Context()))
		if diff := cmp.Diff(row.calls, index.places); diff != "" || l.Start.Rank != row.start {
			t.Errorf("page %d begins at %d, want %d; %s", row.page, l.Start.Rank, row.start, diff)
		}
	}
}
