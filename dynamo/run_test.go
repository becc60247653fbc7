package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/merge"
	"github.com/talkback/talkback/dynamo/planner"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// fakeQuerier answers from a function, for situations that an engine cannot produce.
type fakeQuerier struct {
	mu    sync.Mutex
	calls []*dynamodb.QueryInput
	query func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error)
}

func (f *fakeQuerier) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	f.mu.Lock()
	f.calls = append(f.calls, in)
	f.mu.Unlock()
	return f.query(ctx, in)
}

// readOnly is a client that answers only reads of lists.
type readOnly struct {
	client
	*fakeQuerier
}

func (r readOnly) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return r.fakeQuerier.Query(ctx, in, options...)
}

// windowOf returns the window of the first link that a query touches. In an order by date, that is
// the only link.
func windowOf(q comment.Query) planner.Window {
	s := planner.StretchOf(q)
	return s.Window(s.Links[0])
}

func planFor(ratings ...int) planner.Plan {
	filter := comment.Filter{Ratings: ratings}
	q := comment.Query{Product: "42", Filter: filter, Order: comment.NewestFirst}
	return plannerOf(q, planner.Knowledge{}).Narrow(planner.Request{Window: windowOf(q), Purpose: comment.ReadPage, Want: 21})
}

// RareEnds returns counts with hardly any comment of one or five stars, so that pages of these are
// read from their partitions.
func RareEnds(comment.Query) planner.Knowledge {
	return planner.Knowledge{Stats: comment.Stats{"en": {Counts: comment.Counts{1e3, 1e6, 1e6, 1e6, 1e3}}}}
}

// boundless returns a meter with a bound that no test reaches.
func boundless() *layout.Meter { return layout.NewMeter(1e6, pageCure) }

// execute runs a plan, and returns the comments without their compressed texts.
func execute(ctx context.Context, f *fakeQuerier, plan planner.Plan) (taken []comment.Comment, r *run, err error) {
	r = NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).newRun(ctx, boundless(), plan)
	found, err := r.take(ctx)
	for i := range found {
		taken = append(taken, found[i].Comment)
	}
	return taken, r, err
}

// asRead returns comments as a run reads them: compressed.
func asRead(comments []comment.Comment) []layout.Compressed {
	out := make([]layout.Compressed, len(comments))
	for i := range comments {
		out[i].Comment = comments[i]
	}
	return out
}

// partitionKey returns the partition key that a call reads.
func partitionKey(in *dynamodb.QueryInput) string {
	return in.ExpressionAttributeValues[":p"].(*types.AttributeValueMemberS).Value
}

// The first error cancels the other reads, and the run leaves no goroutine behind.
func TestFirstFailureCancelsSiblings(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent()) // connections of other tests stay open
	broken := errors.New("broken")
	f := &fakeQuerier{query: func(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
		if partitionKey(in) == "P#42/3" {
			return nil, broken
		}
		<-ctx.Done() // would wait for ever otherwise
		return nil, ctx.Err()
	}}
	taken, _, err := execute(t.Context(), f, planFor(1, 3, 5))
	if !errors.Is(err, broken) || taken != nil {
		t.Errorf("%v, %v; want nothing and the first failure", taken, err)
	}
}

// Two reads may find two versions of a comment that an edit moves. The comment is shown with the
// text of its version, whichever texts are compressed.
func TestTextIsOfTheVersionShown(t *testing.T) {
	long := strings.Repeat("what was written ", 20)
	for _, texts := range [][2]string{{"short", long}, {long, "short"}, {long + "first", long}, {"short", "other"}} {
		c := commenttest.Random(commenttest.Rand(t), "42")
		versions := map[string]comment.Comment{}
		for i, rating := range []int{1, 5} {
			c.Rating, c.Version, c.Text = rating, i+1, texts[i]
			versions[fmt.Sprintf("P#42/%d", rating)] = c
		}
		f := &fakeQuerier{query: func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
			return &dynamodb.QueryOutput{Items: []layout.Item{layout.Encode(versions[partitionKey(in)])}}, nil
		}}
		store := NewStore(readOnly{fakeQuerier: f}, "comments", Options{Knowledge: RareEnds})
		page, err := store.Comments(t.Context(), comment.Query{
			Product: "42", Filter: comment.Filter{Ratings: []int{1, 5}}, Order: comment.NewestFirst, Slice: comment.Slice{Size: 3},
		})
		if err != nil || len(page.Comments) != 1 {
			t.Fatalf("%d comments, %v", len(page.Comments), err)
		}
		if got := page.Comments[0]; got.Text != texts[got.Version-1] {
			t.Errorf("version %d has the text %q, want %q", got.Version, got.Text, texts[got.Version-1])
		}
	}
}

// Counting runs in parallel with the page: all first calls are made before any of them is answered.
func TestCountingTakesNoRoundOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const expected = 1 + 5
		var under atomic.Int32
		all := make(chan struct{})
		f := &fakeQuerier{query: func(ctx context.Context, _ *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
			if under.Add(1) == expected {
				close(all)
			}
			select {
			case <-all:
				return &dynamodb.QueryOutput{}, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		store := NewStore(readOnly{fakeQuerier: f}, "comments", Options{})
		page, err := store.Comments(ctx, comment.Query{Product: "42", Filter: comment.Filter{CreatedAfter: commenttest.Midnight(1)}, Order: comment.NewestFirst, Count: comment.CountByRating})
		if err != nil || page.Counted == nil || page.Counted.Err != nil || page.Plan().Waves != 1 || page.Plan().Queries != expected {
			t.Errorf("%+v, %v after %d calls", page, err, under.Load())
		}
	})
}

// A count that fails or panics reports an error, and the page beside it is complete.
func TestFailedCountLeavesThePage(t *testing.T) {
	for why, fail := range map[string]func() error{
		"an error": func() error { return errors.New("broken") },
		"a panic":  func() error { panic("a bug of ours") },
	} {
		f := &fakeQuerier{query: func(_ context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
			if in.Select == types.SelectCount {
				return nil, fail()
			}
			return &dynamodb.QueryOutput{}, nil
		}}
		store := NewStore(readOnly{fakeQuerier: f}, "comments", Options{})
		page, err := store.Comments(t.Context(), comment.Query{Product: "42", Order: comment.NewestFirst, Count: comment.CountTotal})
		if err != nil || page.Counted == nil || page.Counted.Err == nil {
			t.Errorf("%s: %+v, %v", why, page, err)
		}
	}
}

// cutTable is a table that ends its answers at random, as DynamoDB may: before the limit, without
// items, or with a LastEvaluatedKey though nothing follows.
type cutTable struct {
	warehouse
	random *rand.Rand
	want   int // the number of comments that the page takes

	mu     sync.Mutex
	given  map[string]int // the number of comments returned of each partition
	excess int            // how much higher than needed the limit of a later call was, at most
}

func (s *cutTable) query(ctx context.Context, in *dynamodb.QueryInput) (*dynamodb.QueryOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if given := s.given[partitionKey(in)]; given > 0 {
		s.excess = max(s.excess, int(*in.Limit)-max(1, s.want-given))
	}
	asking := *in
	asking.Limit = aws.Int32(min(*in.Limit, s.random.Int32N(8)))
	if *asking.Limit == 0 {
		if in.ExclusiveStartKey != nil {
			return &dynamodb.QueryOutput{LastEvaluatedKey: in.ExclusiveStartKey}, nil
		}
		return &dynamodb.QueryOutput{LastEvaluatedKey: layout.Item{layout.AttrPK: layout.Text(layout.SortKeyOf(comment.MaxPosition))}}, nil
	}
	out, err := s.warehouse.Query(ctx, &asking)
	s.given[partitionKey(in)] += int(out.ScannedCount)
	if n := len(out.Items); n > 0 && s.random.IntN(2) == 0 {
		out.LastEvaluatedKey = out.Items[n-1]
	}
	return out, err
}

// A page is full and in order, wherever the table ends its answers and whatever limits the plan
// chose, also if it reads ahead. No call scans more than what its partition still has to bring.
func TestRunReadsOnUntilThePageIsFull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		comments := commenttest.Many(r, "42", rapid.IntRange(0, 60).Draw(t, "comments"))
		filter := comment.Filter{Ratings: []int{1, 4, 5}}
		want := commenttest.NewModel(comments...).List("42", filter, comment.NewestFirst)
		s := &cutTable{warehouse: warehouse{comments: comments}, random: r, given: map[string]int{}}

		plan := planFor(filter.Ratings...)
		plan.Want, plan.Likely = rapid.IntRange(0, 40).Draw(t, "want"), rapid.Bool().Draw(t, "ahead")
		s.want = plan.Want
		for i := range plan.Reads {
			plan.Reads[i].Limit = rapid.IntRange(1, 40).Draw(t, "limit")
		}
		got, done, err := execute(t.Context(), &fakeQuerier{query: s.query}, plan)
		must.Do(t, err)
		want = want[:min(plan.Want, len(want))]
		if fmt.Sprint(got) != fmt.Sprint(want) || s.excess > 0 {
			t.Fatalf("took %v\nwant %v; a limit was %d too high", got, want, s.excess)
		}
		if report := explain(execution{page: []*reading{{steps: [][]*run{{done}}}}}, nil, nil, len(got)); report.Waves != done.waves {
			t.Fatalf("%d waves reported of %d", report.Waves, done.waves)
		}
	})
}

// A read that was not enough goes on, within what the attempt may still cost. If that is little of
// what its next call would scan, another plan reads the rest.
func TestReadThatWasNotEnough(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "42", 1)
	part := func(filter comment.Filter) planner.Part {
		return planner.Part{Partition: layout.Partition{Index: layout.All}, Conditions: filter.Conditions()}
	}
	rated, verified := comment.Filter{Ratings: []int{1, 5}}, comment.Filter{Verified: new(true)}
	unvoted := comment.Filter{Helpful: new(false)}
	ranks := &planner.RankPrice{}
	for _, row := range []struct {
		why    string
		filter comment.Filter
		plan   planner.Plan
		limit  int
		most   float64 // what is left of the attempt
		start  layout.Item
		goesOn bool
		next   int // the limit of the next call
		failed bool
		cut    bool
	}{
		{"all may be spent", rated, planner.Plan{}, 40, 100, nil, true, 80, false, false},
		{"a fourth may be spent", rated, planner.Plan{}, 40, 2.5 * 2, nil, true, 20, false, false},
		{"less than a fourth", rated, planner.Plan{}, 40, 2 * 2, nil, false, 0, true, false},
		{"nothing, of a call of two", rated, planner.Plan{}, 1, 0, nil, false, 0, true, false},
		{"it replaces another attempt", rated, planner.Plan{Narrowed: true}, 40, 0, nil, true, 80, false, false},
		{"the item where it stopped is damaged", rated, planner.Plan{}, 40, 0, layout.Key("?", "?"), true, 80, false, false},
		{"there is no other way", verified, planner.Plan{}, 40, 0, nil, true, 80, false, false},
		{"ranks are another way", verified, planner.Plan{Ranks: ranks}, 40, 0, nil, false, 0, true, true},
		{"nearly all have votes, without ranks", unvoted, planner.Plan{}, 40, 0, nil, true, 80, false, false},
		{"nearly all have votes", unvoted, planner.Plan{Ranks: ranks}, 40, 0, nil, false, 0, true, true},
	} {
		row.plan.Product, row.plan.Filter, row.plan.Descending, row.plan.Want = "42", row.filter, true, 20
		row.plan.High.Position = comment.MaxPosition
		row.plan.Reads = []planner.Read{{Part: part(row.filter), Limit: row.limit}}
		r := NewStore(readOnly{}, "comments", Options{}).newRun(t.Context(), boundless(), row.plan)
		r.most = row.most
		read := &r.reads[0]
		read.scanned, read.start = row.limit, layout.Encode(comments[0])
		if row.start != nil {
			read.start = row.start
		}
		goesOn := r.continueRead(0, 2, 20)
		if read = &r.reads[0]; goesOn != row.goesOn || goesOn && read.limit != row.next || read.replaced == goesOn || r.store.attempts.failedLately(r.attempt) != row.failed || r.cut != row.cut {
			t.Errorf("%s: it goes on %t with %d, cut %t", row.why, goesOn, read.limit, r.cut)
		}
		if added := len(r.plans) - 1; added != 0 && (goesOn || row.cut) || added != 1 && !goesOn && !row.cut {
			t.Errorf("%s: %d further plans", row.why, added)
		}
	}
}

// Reads of a product without counts are replaced in parallel, and each has its share of what the
// attempt may still cost. If another read of the wave is found by ranks, no plan follows.
func TestReadsOfAWaveShareTheAttempt(t *testing.T) {
	comments := commenttest.Many(commenttest.Rand(t), "42", 1)
	for _, cut := range []bool{false, true} {
		filter := comment.Filter{Ratings: []int{4, 5}}
		list := planner.Planner{Product: "42", Filter: filter}
		w := windowOf(comment.Query{Filter: filter, Order: comment.NewestFirst})
		r := NewStore(readOnly{}, "comments", Options{}).newRun(t.Context(), boundless(), list.Take(planner.Request{Window: w, Purpose: comment.ReadPage, Want: 100}))
		r.most, r.cut = 8, cut
		read := &r.reads[0]
		read.scanned, read.returned, read.start = 40, 38, layout.Encode(comments[0])
		read.cells = slices.Repeat([]comment.Cell{{Language: "en", Rating: 5}}, read.returned)
		const dry = 4
		if !read.plan.Likely || r.continueRead(0, dry, 60) || r.cut != cut || (len(r.plans) == 1) != cut {
			t.Fatalf("cut %t: likely %t, then cut %t with %d plans", cut, r.plan.Likely, r.cut, len(r.plans))
		}
		if cut {
			continue
		}
		for _, next := range r.plans[1].Reads {
			if !r.plans[1].WideRead(next) || layout.AssumedUnits(next.Limit) > r.most/dry {
				t.Errorf("%s is read up to %d items", next.Partition.Index, next.Limit)
			}
		}
	}
}

// Once the rest of a list is found by ranks, no other read of the wave makes a call.
func TestNothingIsReadBesideRanks(t *testing.T) {
	f, end := &fakeQuerier{}, layout.Encode(commenttest.Many(commenttest.Rand(t), "42", 1)[0])
	plan := planFor(4, 5)
	plan.Filter, plan.Ranks, plan.Narrowed = comment.Filter{Helpful: new(false)}, &planner.RankPrice{}, false
	for i := range plan.Reads {
		plan.Reads[i].Conditions = plan.Filter.Conditions()
	}
	r := NewStore(readOnly{fakeQuerier: f}, "comments", Options{}).newRun(t.Context(), boundless(), plan)
	r.merger = merge.New(len(r.reads), r.compare, r.wave)
	for i := range r.reads {
		one := &r.reads[i]
		one.queries, one.scanned, one.returned, one.start = 1, 40, 40*i, end // nearly all of the first have votes
	}
	batches, err := r.wave(t.Context(), []int{0, 1}, 20)
	if err != nil || len(batches) != 2 || !batches[0].Done || !batches[1].Done || !r.cut || len(f.calls) > 0 {
		t.Errorf("%+v, %v; cut %t, after %d calls", batches, err, r.cut, len(f.calls))
	}
}

// Sizes that are known are used. Else a few items that were read change what is assumed a little.
func TestLikelySizes(t *testing.T) {
	var some sizeSums
	for range likelyWeight {
		some.add(5, 1512)
	}
	known, typical := planner.Sizes{Any: planner.ItemSize{Mean: 90}}, (&planner.Knowledge{}).LikelySizes().Any.Mean
	for _, row := range []struct {
		why   string
		known planner.Sizes
		seen  sizeSums
		mean  float64
	}{
		{"known", known, some, 90}, {"as many seen as assumed", planner.Sizes{}, some, (typical + 1512) / 2}, {"nothing is seen", planner.Sizes{}, sizeSums{}, 0},
	} {
		one := &read{plan: &planner.Plan{Known: planner.Knowledge{Sizes: row.known}}, sizes: row.seen}
		if got := one.likelySizes().Any.Mean; got != row.mean {
			t.Errorf("%s: %v bytes, want %v", row.why, got, row.mean)
		}
	}
}

// A read that was replaced has covered all up to the item where it stopped. A run that was cut has
// not reached the end.
func TestWhatARunCovers(t *testing.T) {
	c := commenttest.Random(commenttest.Rand(t), "42")
	r := NewStore(readOnly{}, "comments", Options{}).newRun(t.Context(), boundless(), planFor(5))
	r.reads[0].replaced, r.reads[0].start = true, layout.Encode(c)
	at := c.ID.Position()
	if len(r.readAt(at.Next())) != 1 || len(r.readAt(at)) != 1 || len(r.readAt(at.Previous())) != 0 {
		t.Error("it covers other positions")
	}
	if r.cut = true; r.ended() {
		t.Error("a run that was cut has ended")
	}
}
