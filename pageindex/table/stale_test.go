package table_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/pageindex/table"
)

// replicas answers eventually consistent reads like a table whose replicas lag: often with an
// earlier answer to the same read.
type replicas struct {
	*dynamodb.Client
	r *rand.Rand

	mu     sync.Mutex
	before map[string][]any
}

// stale returns an earlier answer to a read, or reads now.
func stale[T any](s *replicas, input any, read func() (T, error)) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := fmt.Sprintf("%+v", input)
	if earlier := s.before[key]; len(earlier) > 0 && s.r.IntN(2) == 0 {
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
	lagging := table.New(&replicas{Client: c.client, r: r, before: map[string][]any{}}, c.table)
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
		if err := c.Apply(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		next := state{}
		for p, cell := range now {
			next[p] = cell
		}
		for _, entry := range batch {
			if delete(next, entry.Position); entry.Cell != nil {
				next[entry.Position] = *entry.Cell
			}
		}
		now, past = next, append(past, next)
		for range 3 {
			targets := []pageindex.Target{{Rank: r.IntN(700)}, {Rank: r.IntN(700), Exact: r.IntN(2) == 0}}
			ratings := [][]int{nil, {1, 5}}[r.IntN(2)]
			found, err := lagging.Find(t.Context(), pageindex.List{Product: "p", Filter: comment.Filter{Ratings: ratings}, Order: comment.OldestFirst}, targets)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(past, func(s state) bool { return s.fits(ratings, targets, found) }) {
				t.Fatalf("after %d batches, %+v of ratings %v: %+v is no answer of any moment", n+1, targets, ratings, found)
			}
		}
	}
}
