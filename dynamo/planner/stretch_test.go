package planner

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
)

// has reports whether a window has a comment.
func (w Window) has(c comment.Comment) bool {
	place := comment.Place{Position: c.ID.Position()}
	if w.byVotes {
		place = comment.MostHelpful.PlaceOf(c)
	}
	return w.low.Compare(place) <= 0 && place.Compare(w.high) <= 0
}

// taken returns the comments in the windows of a stretch, in the direction of reading.
func taken(s Stretch, comments []comment.Comment) (out []layout.Compressed) {
	for _, c := range comments {
		for _, link := range s.Links {
			if link.Filter.Allows(c) && s.Window(link).has(c) {
				out = append(out, layout.Compressed{Comment: c})
			}
		}
	}
	s.Sort(out)
	return out
}

// The windows of a stretch have what its page needs: cut from them, the page has the comments of
// the slice, and its neighbours are known or are what a probe finds.
func TestPagesAreCutFromTheirStretch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		comments := make([]comment.Comment, rapid.IntRange(0, 8).Draw(t, "comments"))
		for i := range comments {
			comments[i] = comment.Comment{
				ID: comment.IDOf(comment.PositionAt(time.UnixMilli(int64(i/2)), [10]byte{9: byte(i)})), ProductID: "p", Language: "en",
				Rating: rapid.IntRange(3, comment.MaxRating).Draw(t, "rating"),
				Votes:  comment.VoteCounts{Helpful: rapid.IntRange(0, 2).Draw(t, "votes")},
			}
		}
		q := comment.Query{Product: "p", Order: commenttest.AnyOrder(t), Slice: comment.Slice{Size: rapid.IntRange(0, 4).Draw(t, "size")}}
		q.Slice.FromEnd = rapid.Bool().Draw(t, "from the end")
		if rapid.Bool().Draw(t, "dated") {
			q.Filter.CreatedAfter = new(time.UnixMilli(rapid.Int64Range(0, 3).Draw(t, "created after")))
		}
		list := commenttest.NewModel(comments...).List("p", q.Filter, q.Order)
		cursor := func(name string) *comment.Place {
			if len(comments) == 0 || rapid.Bool().Draw(t, "without "+name) {
				return nil
			}
			return commenttest.AnyPlace(t, q.Order, rapid.SampledFrom(comments).Draw(t, name))
		}
		q.Slice.After, q.Slice.Before = cursor("after"), cursor("before")
		if q.Slice.Check(q.Order) != nil {
			t.Skip("the wrong way round")
		}
		skip := rapid.IntRange(0, 3).Draw(t, "skip")
		s := StretchOf(q).Skipping(skip)

		// What is left of the list, in the direction of reading, and how many comments are behind and
		// ahead.
		if q.Slice.FromEnd {
			slices.Reverse(list)
		}
		inside, behind, ahead := []comment.Comment{}, 0, 0
		for _, c := range list {
			place := q.Order.PlaceOf(c)
			before, after := q.Slice.After != nil && q.Order.Compare(place, *q.Slice.After) <= 0, q.Slice.Before != nil && q.Order.Compare(place, *q.Slice.Before) >= 0
			if q.Slice.FromEnd {
				before, after = after, before
			}
			switch {
			case before:
				behind++
			case after:
				ahead++
			default:
				inside = append(inside, c)
			}
		}
		skip = min(skip, len(inside))
		behind, inside = behind+skip, inside[skip:]
		if len(inside) > q.Slice.Size {
			ahead, inside = ahead+len(inside)-q.Slice.Size, inside[:q.Slice.Size]
		}

		all := taken(s, comments)
		page, around := s.Cut(all[:min(len(all), s.Want(q.Slice.Size))], q.Slice.Size, false)
		if around.Behind == Unknown {
			around.Behind = AnswerOf(len(taken(s.Behind(), comments)) > 0)
		}
		if around.Ahead == Unknown {
			around.Ahead = AnswerOf(len(taken(s.Ahead(), comments)) > 0)
		}
		if !slices.EqualFunc(page, inside, func(a layout.Compressed, b comment.Comment) bool { return a.ID == b.ID }) {
			t.Fatalf("the page has %v, want %v", page, inside)
		}
		if around.Behind != AnswerOf(behind > 0) || around.Ahead != AnswerOf(ahead > 0) {
			t.Fatalf("neighbours %+v, but there are %d behind and %d ahead", around, behind, ahead)
		}
		if whole, known := s.Cut(taken(StretchOf(comment.Query{Filter: q.Filter, Order: q.Order, Slice: comment.Slice{FromEnd: q.Slice.FromEnd}}), comments), q.Slice.Size, true); len(whole) != len(inside) || known != around {
			t.Fatalf("cut from the whole list: %v with %+v, want %v with %+v", whole, known, inside, around)
		}
		if s.Skip() > 0 && s.end == nil {
			if _, found := s.LastSkipped(all); found != (skip == s.Skip()) {
				t.Fatalf("%d of %v are skipped: %v", s.Skip(), all, found)
			}
		}
	})
}
