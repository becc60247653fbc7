package counts_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/stream"
)

// What reading votes takes: an answer has a megabyte at most, and one partition has some read units
// in a second.
const (
	voteBytes      = 110
	votesInAnswer  = 1 << 20 / voteBytes
	votesInUnit    = 4096 / voteBytes
	partitionReads = 3000
	answerTakes    = 40 * time.Millisecond // a whole one
)

// Query returns the votes of one comment whose sort keys have a prefix.
func (s *simTable) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	prefix := textOf(in.ExpressionAttributeValues, ":prefix")
	from, _ := strconv.Atoi(textOf(in.ExclusiveStartKey, "from"))
	s.mu.Lock()
	var found []layout.Item
	for slice, votes := range s.votes {
		if strings.HasPrefix(layout.VoteSlicePrefix(slice), prefix) {
			found = append(found, votes...)
		}
	}
	out := &dynamodb.QueryOutput{Items: found[from:min(from+votesInAnswer, len(found))]}
	if end := from + votesInAnswer; end < len(found) {
		out.LastEvaluatedKey = layout.Item{"from": layout.Text(strconv.Itoa(end))}
	}
	units := len(out.Items)/votesInUnit + 1
	s.voteReads += units
	begin := time.Now()
	if s.readsFree.Before(begin) {
		s.readsFree = begin
	}
	s.readsFree = s.readsFree.Add(time.Duration(units) * time.Second / partitionReads)
	takes := max(s.readsFree.Sub(begin), readTakes+answerTakes*time.Duration(len(out.Items))/votesInAnswer)
	s.mu.Unlock()
	return out, task.Wait(ctx, takes)
}

// PutItem puts the sums of votes.
func (s *simTable) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	err := s.change(ctx, in.Item, aws.ToString(in.ConditionExpression), in.ExpressionAttributeValues, func(layout.Item) layout.Item { return in.Item })
	return &dynamodb.PutItemOutput{}, err
}

// UpdateItem sets the total of a comment's votes.
func (s *simTable) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	err := s.change(ctx, in.Key, aws.ToString(in.ConditionExpression), in.ExpressionAttributeValues, func(was layout.Item) layout.Item {
		it := layout.Item{}
		maps.Copy(it, was)
		set, remove, _ := strings.Cut(aws.ToString(in.UpdateExpression), " REMOVE ")
		for term := range strings.SplitSeq(strings.TrimPrefix(set, "SET "), ", ") {
			name, value, _ := strings.Cut(term, " = ")
			it[name] = in.ExpressionAttributeValues[value]
		}
		for name := range strings.SplitSeq(remove, ", ") {
			delete(it, name)
		}
		return it
	})
	return &dynamodb.UpdateItemOutput{}, err
}

// change writes one item if its condition holds.
func (s *simTable) change(ctx context.Context, key layout.Item, condition string, values layout.Item, to func(was layout.Item) layout.Item) error {
	if err := task.Wait(ctx, writeTakes); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.items[keyOf(key)]
	if !holds(condition, values, was) {
		return &types.ConditionalCheckFailedException{}
	}
	s.items[keyOf(key)] = to(was)
	s.totals++
	return nil
}

// viral is a comment that many vote on, all for it; some take their vote back.
type viral struct {
	*shop
	id      comment.ID
	voters  int
	helpful int
}

// vote lets new customers vote, and one in twenty of these take the vote back.
func (v *viral) vote(customers int) {
	v.table.mu.Lock()
	defer v.table.mu.Unlock()
	for range customers {
		v.voters++
		hash := fmt.Sprintf("%x", sha256.Sum256(strconv.AppendInt(nil, int64(v.voters), 10)))
		it := layout.VoteItem(v.id, hash[:32], comment.CastVote{By: hash[:8], Vote: comment.Helpful, At: time.Now()})
		slice, _ := layout.VoteSlice(it)
		votes := &v.table.votes[slice]
		*votes = append(*votes, it)
		v.helpful++
		key := layout.VoteKey(v.id, hash[:32])
		v.table.publish(0, stream.Record{Keys: key, New: it})
		if v.r.IntN(20) == 0 {
			undone := layout.VoteItem(v.id, hash[:32], comment.CastVote{By: hash[:8], Vote: comment.NoVote, At: time.Now()})
			*votes = slices.Clone(*votes) // an answer may be on its way
			(*votes)[len(*votes)-1] = undone
			v.helpful--
			v.table.publish(0, stream.Record{Keys: key, Old: it, New: undone})
		}
	}
}

// shown returns what the comment says of its votes.
func (v *viral) shown() comment.VoteCounts {
	v.table.mu.Lock()
	defer v.table.mu.Unlock()
	return layout.ReadVotes(v.table.items[keyOf(layout.CommentKey(v.id))]).Shown
}

// A thousand customers a second vote on one comment for twenty seconds. All votes are counted soon
// after the end, and comments that come through the same shard are counted as soon as without them.
func TestViralComment(t *testing.T) {
	others := map[int]time.Duration{}
	for _, votes := range []int{0, 1000} {
		synctest.Test(t, func(t *testing.T) {
			s := newShop(newSimTable(4), uint64(time.Now().UnixNano()))
			v := &viral{shop: s}
			v.id = s.add("viral")
			v.table.mu.Lock()
			it := layout.CommentKey(v.id)
			it[layout.AttrAll] = layout.Text(layout.ProductPKPrefix + "viral")
			v.table.items[keyOf(it)] = it
			v.table.mu.Unlock()
			defer s.table.start(t).stop()
			for known := false; !known; _, known = s.table.processedUpTo() {
				time.Sleep(time.Second)
			}
			for range 20 * 20 {
				v.vote(votes / 20)
				for range 200 / 20 {
					s.add(fmt.Sprint("other ", s.r.IntN(1000)))
				}
				time.Sleep(time.Second / 20)
			}
			ended := time.Now()
			for want := (comment.VoteCounts{Helpful: v.helpful}); v.shown() != want; time.Sleep(50 * time.Millisecond) {
				if time.Since(ended) > time.Minute {
					t.Fatalf("a minute after the end it shows %+v, want %+v", v.shown(), want)
				}
			}
			last := time.Since(ended)
			s.settle(t)
			others[votes] = s.latest(isOther)
			t.Logf("%d votes, counted %v after the last by %d writes and %d read units; others at most %v after they were written",
				v.voters, last, s.table.totals, s.table.voteReads, others[votes])
			if last > 10*time.Second {
				t.Errorf("the votes are counted %v after the last", last)
			}
		})
	}
	if late := others[1000] - others[0]; late > time.Second {
		t.Errorf("others are counted %v later because of the votes", late)
	}
}
