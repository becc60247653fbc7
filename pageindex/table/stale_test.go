package table_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/table"
)

// replicas answers eventually consistent reads like a table whose replicas lag: some with an
// earlier answer to the same read.
type replicas struct {
	*dynamodb.Client
	r *rand.Rand
	// lags decides whether a read gets an earlier answer.
	lags func(read string) bool

	mu     sync.Mutex
	before map[string][]any
}

// lagging returns an index that reads from replicas.
func (c *countedIndex) lagging(r *rand.Rand, lags func(read string) bool) *table.Index {
	return table.New(&replicas{Client: c.client, r: r, lags: lags, before: map[string][]any{}}, c.table)
}

// stale returns an earlier answer to a read, or reads now.
func stale[T any](s *replicas, input any, read func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%+v", input)
	if earlier := s.before[key]; len(earlier) > 0 && s.lags(key) {
		return earlier[s.r.IntN(len(earlier))].(T), nil
	}
	answer, err := read()
	if err == nil {
		last := s.before[key]
		s.before[key] = append(last[max(0, len(last)-2):], answer)
	}
	return answer, err
}

func (s *replicas) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if aws.ToBool(in.ConsistentRead) {
		return s.Client.Query(ctx, in, options...)
	}
	type queryKey struct{ Condition, Partition, From, To string }
	q := queryKey{Condition: *in.KeyConditionExpression}
	for name, value := range in.ExpressionAttributeValues {
		text := fmt.Sprintf("%+v", value)
		switch name {
		case ":key":
			q.Partition = text
		case ":from":
			q.From = text
		case ":to":
			q.To = text
		}
	}
	return stale(s, q, func() (*dynamodb.QueryOutput, error) { return s.Client.Query(ctx, in, options...) })
}

func (s *replicas) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for _, want := range in.RequestItems {
		if !aws.ToBool(want.ConsistentRead) && len(want.Keys) == 1 {
			return stale(s, want.Keys[0]["SK"], func() (*dynamodb.BatchGetItemOutput, error) { return s.Client.BatchGetItem(ctx, in, options...) })
		}
	}
	return s.Client.BatchGetItem(ctx, in, options...)
}

// state is the state of a product's comments at a moment.
type state map[comment.Position]comment.Cell

// fits reports whether an answer describes a list of ratings in the state.
func (s state) fits(ratings []int, targets []pageindex.Target, found pageindex.Found) bool {
	var list []comment.Position
	var counts comment.Counts
	for p, cell := range s {
		if ratings == nil || slices.Contains(ratings, cell.Rating) {
			list = append(list, p)
			counts[cell.Rating-1]++
		}
	}
	slices.SortFunc(list, comment.Position.Compare)
	for i, target := range targets {
		got, want := found.Boundaries[i], min(target.Rank, len(list))
		if got.Rank > want || target.Exact && got.Rank != want || rankOf(list, comment.OldestFirst, got.After) != got.Rank {
			return false
		}
	}
	return counts == found.Counts
}

// Replicas of the table lag. Nevertheless an answer describes one moment, and never a mixture.
func TestStaleReadsAreNotMixed(t *testing.T) {
	r := commenttest.Rand(t)
	c := newCounted(t, dynamotest.Dynoxide(t))
	lagging := c.lagging(r, func(string) bool { return r.IntN(2) == 0 })
	now, past := state{}, []state{}
	for n := range 70 {
		var batch []pageindex.Entry
		if n == 0 {
			batch = entries("p", 0, 700)
		}
		for i := range 25 {
			entry := pageindex.Entry{Product: "p", Position: place(r.IntN(900)), Follows: follows(1000 + n*100 + i)}
			if r.IntN(3) > 0 {
				entry.Cell = &comment.Cell{Language: "en", Rating: 1 + r.IntN(comment.MaxRating)}
			}
			batch = append(batch, entry)
		}
		must.Do(t, c.Apply(t.Context(), batch))
		next := maps.Clone(now)
		for _, entry := range batch {
			if delete(next, entry.Position); entry.Cell != nil {
				next[entry.Position] = *entry.Cell
			}
		}
		now, past = next, append(past, next)
		for range 3 {
			targets := []pageindex.Target{{Rank: r.IntN(700)}, {Rank: r.IntN(700), Exact: r.IntN(2) == 0}}
			ratings := [][]int{nil, {1, 5}}[r.IntN(2)]
			found := must.Get(lagging.Find(t.Context(), pageindex.List{Product: "p", Filter: comment.Filter{Ratings: ratings}, Order: comment.OldestFirst}, targets))(t)
			if !slices.ContainsFunc(past, func(s state) bool { return s.fits(ratings, targets, found) }) {
				t.Fatalf("after %d batches, %+v of ratings %v: %+v is no answer of any moment", n+1, targets, ratings, found)
			}
		}
	}
}

// A read of exact places takes all markers and, at the end, the head from the newest state. So
// changes that cancel out in the counts of a run do not make a mixture of two moments.
func TestExactPlacesAreOfOneMoment(t *testing.T) {
	everything := func(string) bool { return true }
	markers := func(read string) bool { return strings.Contains(read, "BETWEEN") }
	at := place(50)
	for _, test := range []struct {
		name   string
		lags   func(read string) bool
		filter comment.Filter
		target pageindex.Target
		// merged means that no entry of the log corrects the markers.
		merged bool
	}{
		{name: "position, all lags", lags: everything, target: pageindex.Target{At: &at}},
		{name: "position, markers lag", lags: markers, target: pageindex.Target{At: &at}, merged: true},
		{name: "rank, all lags", lags: everything, target: pageindex.Target{Rank: 25, Exact: true}},
		{name: "rank, markers lag", lags: markers, target: pageindex.Target{Rank: 25, Exact: true}, merged: true},
		// The run of the date is read before the run of the rank.
		{name: "rank from a date on, all lags", lags: everything, filter: comment.Filter{CreatedAfter: new(at.Time())}, target: pageindex.Target{Rank: 300, Exact: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newCounted(t, dynamotest.Dynoxide(t))
			five := &comment.Cell{Language: "en", Rating: 5}
			var added []pageindex.Entry
			for i := range 700 {
				added = append(added, pageindex.Entry{Product: "p", Position: place(2 * i), Follows: follows(i), Cell: five})
			}
			list, targets := pageindex.List{Product: "p", Filter: test.filter, Order: comment.OldestFirst}, []pageindex.Target{test.target}
			lagging := c.lagging(commenttest.Rand(t), test.lags)
			var moments []pageindex.Found
			for _, batch := range [][]pageindex.Entry{added, {
				// One comment less before the place, one more after it in the same run, one more in the head.
				{Product: "p", Position: place(40), Follows: follows(1000)},
				{Product: "p", Position: place(61), Follows: follows(1000), Cell: five},
				{Product: "p", Position: place(2000), Follows: follows(1000), Cell: five},
			}} {
				must.Do(t, c.Apply(t.Context(), batch))
				if test.merged {
					must.Do(t, c.Merge(t.Context(), "p"))
				}
				want := must.Get(c.Find(t.Context(), list, targets))(t)
				want.Cost = pageindex.Cost{}
				moments = append(moments, want)
				got, err := lagging.Find(t.Context(), list, targets)
				got.Cost = pageindex.Cost{}
				if err != nil || !slices.ContainsFunc(moments, func(f pageindex.Found) bool { return reflect.DeepEqual(f, got) }) {
					t.Errorf("got %+v, %v; want one of %+v", got, err, moments)
				}
			}
			if reflect.DeepEqual(moments[0], moments[1]) {
				t.Error("the change changes no answer")
			}
		})
	}
}

// Merge and Runs need the newest state, however far replicas lag.
func TestMergeAndRunsReadNoReplicas(t *testing.T) {
	c := newCounted(t, dynamotest.Dynoxide(t))
	lagging := c.lagging(commenttest.Rand(t), func(string) bool { return true })
	for _, batch := range [][]pageindex.Entry{entries("p", 0, 300), {{Product: "p", Position: place(7), Follows: follows(400)}}} {
		must.Do(t, c.Apply(t.Context(), batch))
		want := must.Get(c.Runs(t.Context(), "p"))(t)
		if got, err := lagging.Runs(t.Context(), "p"); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got runs %+v, %v; want %+v", got, err, want)
		}
		must.Do(t, lagging.Merge(t.Context(), "p"))
		if held := c.held(t, "p"); !slices.Equal(held, []string{layout.DirectorySK}) {
			t.Errorf("after the merge: %q", held)
		}
	}
}
