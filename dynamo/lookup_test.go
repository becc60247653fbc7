package dynamo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/conformance"
)

// A start among helpful comments is found up to the last of MaxVotedRank, also for a place.
func TestStartOf(t *testing.T) {
	found := make([]layout.Compressed, comment.MaxVotedRank+1)
	place := func(rank int) *comment.Place { return new(comment.MostHelpful.PlaceOf(found[rank-1].Comment)) }
	for i := range found {
		found[i].ID = comment.IDOf(comment.FirstAt(time.Unix(1e9-int64(i), 0)))
		found[i].Votes.Helpful = 1
	}
	for _, row := range []struct {
		why    string
		target pageindex.VotedTarget
		want   pageindex.Start
	}{
		{"the beginning", pageindex.VotedTarget{}, pageindex.Start{}},
		{"behind the first", pageindex.VotedTarget{Rank: 1}, pageindex.Start{Rank: 1, After: place(1)}},
		{"behind the last that is read", pageindex.VotedTarget{Rank: comment.MaxVotedRank}, pageindex.Start{Rank: comment.MaxVotedRank, After: place(comment.MaxVotedRank)}},
		{"deeper", pageindex.VotedTarget{Rank: comment.MaxVotedRank + 1}, pageindex.Start{Rank: pageindex.Beyond}},
		{"the place of the third", pageindex.VotedTarget{At: place(3)}, pageindex.Start{Rank: 3, After: place(3)}},
		{"the place of the last that is read", pageindex.VotedTarget{At: place(comment.MaxVotedRank)}, pageindex.Start{Rank: comment.MaxVotedRank, After: place(comment.MaxVotedRank)}},
		{"a deeper place", pageindex.VotedTarget{At: place(comment.MaxVotedRank + 1)}, pageindex.Start{Rank: pageindex.Beyond}},
	} {
		check.Equal(t, row.want, startOf(row.target, found), row.why)
	}
}

// The comments in front of a place are those up to it, itself included.
func TestInFrontOf(t *testing.T) {
	for _, order := range commenttest.Orders() {
		a := answering{list: listing{source: source{query: comment.Query{Order: order}}}}
		for _, position := range []comment.Position{{}, {15: 5}, comment.MaxPosition} {
			place := comment.Place{Key: 3, Position: position}
			slice := a.inFrontOf(&place, 7)
			last := order.Descends() && position == comment.Position{} || !order.Descends() && position == comment.MaxPosition
			if slice.Size != 7 || !slice.FromEnd || slice.After != nil || (slice.Before == nil) != last {
				t.Errorf("%s: in front of %v is %+v", order, place, slice)
			}
			if slice.Before != nil && (order.Compare(place, *slice.Before) >= 0 || slice.Before.Previous() != place && slice.Before.Next() != place) {
				t.Errorf("%s: in front of %v is all before %v", order, place, *slice.Before)
			}
		}
	}
}

// brokenIndex is an index of page numbers that fails.
type brokenIndex struct{ err error }

func (b brokenIndex) Find(context.Context, pageindex.List, []pageindex.Target) (pageindex.Found, error) {
	return pageindex.Found{}, b.err
}

// If the index of page numbers is away or too slow, the page is read without it. Any other failure
// is one of the page, as is the end of the request.
func TestRanksThatAreNotAnswered(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, row := range []struct {
		why  string
		ctx  context.Context
		err  error
		away bool
	}{
		{"away", t.Context(), comment.Errorf(comment.Unavailable, "away"), true},
		{"too slow", t.Context(), comment.Errorf(comment.Timeout, "slow"), true},
		{"broken", t.Context(), errors.New("broken"), false},
		{"nobody waits", gone, comment.Errorf(comment.Timeout, "slow"), false},
	} {
		s := NewStore(&warehouse{}, "comments", Options{PageNumbers: brokenIndex{row.err}})
		r := s.newRun(row.ctx, layout.NewMeter(1, pageCure), planner.Plan{Product: "42", Want: 1, ByRank: true, Descending: true, High: comment.Place{Position: comment.MaxPosition}})
		err := s.takeByRank(row.ctx, r)
		if (err == nil) != row.away || r.cut != row.away || r.away != row.away {
			t.Errorf("%s: %v, cut %v, away %v", row.why, err, r.cut, r.away)
		}
	}
}

// Pages by number reach the first 1,024 comments with helpful votes, and all comments without.
// Deeper, the error recommends cursors. A page at a cursor there has no number, but has the number
// of pages.
func TestNumbersAmongHelpfulComments(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "42", 1500)
	index, entries := conformance.NewModel(), []pageindex.Entry{}
	for i := range comments {
		comments[i].Text = "" // it takes time and does not matter
		if c := &comments[i]; i < 1200 {
			c.ImportedVotes.Helpful = 1 + i%7
			c.Votes = c.ImportedVotes
		}
		entries = append(entries, pageindex.Entry{Product: "42", Position: comments[i].ID.Position(), Cell: new(comments[i].Cell()), Follows: "1"})
	}
	must.Do(t, index.Apply(t.Context(), entries))
	model := commenttest.NewModel(comments...)
	list := model.List("42", comment.Filter{}, comment.MostHelpful)
	for _, known := range []planner.Knowledge{{}, {Stats: model.Stats("42"), AsOf: time.Now(), Trusted: true}, {Stats: model.Stats("42")}} {
		store := NewStore(&warehouse{comments: comments}, "comments", Options{PageNumbers: index, Knowledge: always(known)})
		for page, deep := range map[int]bool{1: false, 10: false, 51: false, 53: true, 58: true, 61: false, 75: false} {
			q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, Page: page}}
			got, err := store.Comments(t.Context(), q)
			if deep {
				if comment.KindOf(err) != comment.BadInput || !strings.Contains(err.Error(), "cursors") {
					t.Errorf("page %d: %v", page, err)
				}
				continue
			}
			if err != nil || len(got.Comments) != 20 || got.Comments[0].ID != list[20*(page-1)].ID {
				t.Fatalf("page %d: %v, %d comments", page, err, len(got.Comments))
			}
		}
		for rank, number := range map[int]int{500: 26, 1100: 0, 1220: 62} {
			q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 20, After: new(comment.MostHelpful.PlaceOf(list[rank-1]))}}
			q.Numbering = comment.Numbering{Count: true, Number: true}
			got, err := store.Comments(t.Context(), q)
			if err != nil || got.Comments[0].ID != list[rank].ID || got.Numbered.Pages != 75 || (got.Numbered.Unknown != nil) != (number == 0) || number > 0 && got.Numbered.Page != number {
				t.Errorf("behind %d comments: %v, %+v", rank, err, got.Numbered)
			}
		}
	}
}
