package dynamo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/pageindex"
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
		if diff := cmp.Diff(row.want, startOf(row.target, found)); diff != "" {
			t.Errorf("%s: %s", row.why, diff)
		}
	}
}

// The comments in front of a place are those up to it, itself included.
func TestInFrontOf(t *testing.T) {
	for _, order := range comment.Orders() {
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
