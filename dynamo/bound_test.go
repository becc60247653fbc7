package dynamo

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// endless returns a partition without an end: each call consumes the given units, and another page
// follows.
func endless(units float64) *fakeQuerier {
	return &fakeQuerier{query: func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		last := layout.Item{layout.AttrPK: &types.AttributeValueMemberS{Value: layout.SortKeyOf(comment.MaxPosition)}}
		return &dynamodb.QueryOutput{
			Count: aws.ToInt32(in.Limit), ScannedCount: aws.ToInt32(in.Limit), LastEvaluatedKey: last,
			ConsumedCapacity: &types.ConsumedCapacity{CapacityUnits: aws.Float64(units)},
		}, nil
	}}
}

// A count that never ends stops at its cost bound and says what to do. The page beside it is
// complete.
func TestCountStopsAtItsBound(t *testing.T) {
	f := endless(0)
	f.query = func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if in.Select != types.SelectCount {
			return &dynamodb.QueryOutput{}, nil
		}
		return endless(layout.AssumedUnits(int(*in.Limit))).query(t.Context(), in)
	}
	q := comment.Query{Product: "42", Filter: comment.Filter{CreatedAfter: commenttest.Midnight(1)}, Order: comment.NewestFirst, Count: comment.CountTotal}
	page := must.Get(NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).Comments(t.Context(), q))(t)
	if comment.KindOf(page.Counted.Err) != comment.TooCostly {
		t.Errorf("the count: %v", page.Counted.Err)
	}
	if most := layout.BoundFactor * planner.CountEstimate(q); page.Plan().ReadUnits > most || page.Plan().ReadUnits < most/2 {
		t.Errorf("it cost %v units of %v", page.Plan().ReadUnits, most)
	}
}

// A run whose cost is bounded stops within its bound, and uses most of it: also in further waves,
// whose limits are higher, and if its comments are known to be large.
func TestRunStaysWithinItsBound(t *testing.T) {
	for _, size := range []int{0, 18 << 10} {
		for _, within := range []float64{0.5, 1, 5, 30} {
			plan := planFor(1, 5)
			plan.Want, plan.Known.Sizes.Any.Mean = 1000, float64(size)
			var calls atomic.Int32
			f := endless(0)
			f.query = func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
				if calls.Add(1) > 100 {
					return nil, errors.New("no bound ends the run")
				}
				return endless(layout.EventualUnits(int(*in.Limit)*max(size, layout.AssumedItemBytes))).query(t.Context(), in)
			}
			r := NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).newRun(t.Context(), layout.NewMeter(1000, "a test"), plan)
			r.within = within
			if taken, err := r.take(t.Context()); len(taken) > 0 || err != nil || !r.stopped || r.ended() {
				t.Errorf("within %v units: %d comments, %v, stopped %v", within, len(taken), err, r.stopped)
			}
			one := max(0.5, layout.EventualUnits(size)) // what another comment of each read would cost at least
			if units := r.units(); units > within || units <= within-one*float64(len(r.reads)) {
				t.Errorf("comments of %d bytes: it cost %v units of %v", size, units, within)
			}
		}
	}
}

// A page whose reads find nothing stops at its cost bound, even if each read is cheap.
func TestPageStopsAtItsBound(t *testing.T) {
	for _, filter := range []comment.Filter{{}, {Ratings: []int{1, 2}}, {Languages: commenttest.ManyLanguages(40)}} {
		f := endless(30)
		q := comment.Query{Product: "42", Filter: filter, Order: comment.NewestFirst, Slice: comment.Slice{Size: 20}}
		_, err := NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).Comments(t.Context(), q)
		if comment.KindOf(err) != comment.TooCostly {
			t.Errorf("%v: %v", filter, err)
		}
		if most := layout.BoundFactor*planner.PageEstimate(q) + layout.LargestCall + 30*call.MaxAtOnce; 30*float64(len(f.calls)) > most {
			t.Errorf("%v: %d calls of 30 units each, want at most %v units", filter, len(f.calls), most)
		}
	}
}

// The calls for a page by traits stay within its cost bound together if no comment has more than
// 1 KB, though none of the comments that they scan has the traits. Lists in some orders are read in
// several runs at once.
func TestTraitsStayWithinTheirBound(t *testing.T) {
	filters := []comment.Filter{
		{Verified: new(true)}, {Verified: new(true), Ratings: []int{1, 2}}, {WithMedia: new(true), Languages: commenttest.ManyLanguages(40)},
	}
	for _, filter := range filters {
		for _, order := range commenttest.Orders() {
			for _, slice := range []comment.Slice{{Size: 1}, {Size: 10}, {Size: 20, FromEnd: true}, {Size: 100}} {
				var mu sync.Mutex
				units := 0.0
				f := &fakeQuerier{query: func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
					took := layout.AssumedUnits(int(*in.Limit))
					mu.Lock()
					units += took
					mu.Unlock()
					output, err := endless(took).query(ctx, in)
					output.Count = 0
					if aws.ToBool(in.ScanIndexForward) { // no end in that direction either
						output.LastEvaluatedKey[layout.AttrPK] = layout.Text(layout.SortKeyOf(comment.Position{}))
					}
					return output, err
				}}
				q := comment.Query{Product: "42", Filter: filter, Order: order, Slice: slice}
				_, err := NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).Comments(t.Context(), q)
				most := layout.BoundFactor*planner.PageEstimate(q) + layout.LargestCall
				if comment.KindOf(err) != comment.TooCostly || units > most || units < most/2 {
					t.Errorf("%v of %v, %+v: %v units in %d calls, %v; want at most %v and an error", order, filter.Ratings, slice, units, len(f.calls), err, most)
				}
			}
		}
	}
}

// The first look at a list may use up what reading the whole list may cost, if its comments are
// large. Then the list is read in parts.
func TestLookMayUseUpTheBound(t *testing.T) {
	s := &warehouse{comments: commenttest.Many(commenttest.Rand(t), "42", 60)}
	f := &fakeQuerier{query: func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		output, err := s.Query(ctx, in)
		output.ConsumedCapacity = &types.ConsumedCapacity{CapacityUnits: aws.Float64(4 * float64(output.ScannedCount))}
		return output, err
	}}
	q := comment.Query{Product: "42", Filter: comment.Filter{CreatedAfter: &commenttest.Epoch}, Order: comment.MostHelpful, Slice: comment.Slice{Size: 20}}
	page := must.Get(NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).Comments(t.Context(), q))(t)
	if summary := page.Plan().Summary(); strings.Count(summary, "the whole list, to be sorted") != 1 || len(page.Comments) != 20 {
		t.Errorf("%d comments\n%s", len(page.Comments), summary)
	}
}

// The first look at a list takes one wave, even if that brings less than it was to bring.
func TestLookTakesOneWave(t *testing.T) {
	s := &warehouse{comments: commenttest.Many(commenttest.Rand(t), "42", 60), cut: 3}
	q := comment.Query{Product: "42", Order: comment.MostHelpful, Slice: comment.Slice{Size: 20}}
	page, err := NewStore(s, "comments", Options{}).Comments(t.Context(), q)
	if err != nil || len(page.Comments) != 20 {
		t.Fatalf("%d comments, %v", len(page.Comments), err)
	}
	if look := page.Plan().Reads[0]; look.Index != string(layout.All) || look.Queries != 1 {
		t.Errorf("it takes more\n%s", page.Plan().Summary())
	}
}
