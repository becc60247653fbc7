package counts_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// troubled is a client with one kind of trouble. It refuses reads that are not consistent.
type troubled struct {
	*dynamodb.Client
	leavesOut string // the sort key of items that no BatchGetItem returns; all stay unprocessed
	fails     error  // of each BatchGetItem
	overtaken bool   // another write comes before each UpdateItem
}

func (c *troubled) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	if c.fails != nil {
		return nil, c.fails
	}
	asked, left := *in, map[string]types.KeysAndAttributes{}
	asked.RequestItems = map[string]types.KeysAndAttributes{}
	for table, want := range in.RequestItems {
		if !aws.ToBool(want.ConsistentRead) {
			return nil, errInconsistent
		}
		for _, key := range want.Keys {
			to := asked.RequestItems
			if layout.NewReader(key).Text(layout.AttrSK) == c.leavesOut {
				to = left
			}
			part := want
			part.Keys = append(slices.Clone(to[table].Keys), key)
			to[table] = part
		}
	}
	if len(asked.RequestItems) == 0 {
		return &dynamodb.BatchGetItemOutput{UnprocessedKeys: left}, nil
	}
	output, err := c.Client.BatchGetItem(ctx, &asked, options...)
	if err == nil {
		output.UnprocessedKeys = left
	}
	return output, err
}

var errInconsistent = errors.New("a read is not consistent")

func (c *troubled) Query(ctx context.Context, in *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if !aws.ToBool(in.ConsistentRead) {
		return nil, errInconsistent
	}
	return c.Client.Query(ctx, in, options...)
}

func (c *troubled) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, options ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	if c.overtaken {
		return nil, &types.ConditionalCheckFailedException{}
	}
	return c.Client.UpdateItem(ctx, in, options...)
}

// handFirst hands over the record of the vote of customer 0 about a comment, and returns its error.
func (h *voteHistory) handFirst(client counts.VoteWriter, c comment.Comment, few int) error {
	h.Helper()
	return h.handOver(client, few, stream.Record{Keys: voteKeyOf(h.T, h, c.ID, "customer 0")})[0]
}

// A busy table may answer a part of a read only. What is left out is unknown, and not gone: the
// comment keeps its votes, and the record waits.
func TestPartlyAnsweredReadOfVotes(t *testing.T) {
	for name, of := range map[string]func(comment.ID) layout.Item{"comment": layout.CommentKey, "sums": layout.VoteSumsKey} {
		t.Run(name, func(t *testing.T) {
			h := newVoteHistory(t, 2)
			c := h.voted(3)
			h.recount(h.client, c, 2)
			before := h.items(c)
			client := &troubled{Client: h.client, leavesOut: layout.NewReader(of(c.ID)).Text(layout.AttrSK)}
			if err := h.handFirst(client, c, 2); comment.KindOf(err) != comment.Throttled || !errors.Is(err, call.ErrBusy) {
				t.Errorf("the record fails with %v", err)
			}
			if found, err := counts.CompareVotes(t.Context(), client, h.table, c.ID); !errors.Is(err, call.ErrBusy) {
				t.Errorf("compared: %+v, %v", found, err)
			}
			if got := h.items(c); got != before {
				t.Errorf("%d items are left of %d", got, before)
			}
			h.check(c.ID, comment.VoteCounts{Helpful: 3})
		})
	}
}

// A total that other writes overtake again and again is not known to be correct, so its record
// waits.
func TestTotalIsOvertakenEachTime(t *testing.T) {
	h := newVoteHistory(t, 1000)
	c := h.voted(1)
	if err := h.handFirst(&troubled{Client: h.client, overtaken: true}, c, 1000); comment.KindOf(err) != comment.Throttled {
		t.Errorf("the record fails with %v", err)
	}
	if err := h.handFirst(h.client, c, 1000); err != nil {
		t.Error(err)
	}
	h.check(c.ID, comment.VoteCounts{Helpful: 1})
}

// A write that a transaction or the network disturbs once is made again at once: no record waits
// for it, whichever write it is.
func TestWriteIsDisturbedOnce(t *testing.T) {
	for _, few := range []int{2, 1000} { // with sums and without
		h := newVoteHistory(t, few)
		for fails, calls := 1, 1; fails <= calls; fails++ {
			for _, fault := range []faulttest.Fault{faulttest.WriteConflict, faulttest.AnswerLost} {
				c := h.voted(3)
				client, network := faulttest.Under(h.client, func(n int) faulttest.Fault {
					if n == fails {
						return fault
					}
					return faulttest.None
				})
				if err := h.handFirst(client, c, few); err != nil {
					t.Errorf("%d votes are many, call %d is %q: %v", few, fails, fault, err)
				}
				h.check(c.ID, comment.VoteCounts{Helpful: 3})
				calls = network.Calls()
			}
		}
	}
}

// A record whose votes could not be counted tells why, although its slice is still to be counted.
func TestRecordTellsWhatFailed(t *testing.T) {
	h := newVoteHistory(t, 1000)
	c, why := h.voted(1), errors.New("the disk is on fire")
	if err := h.handFirst(&troubled{Client: h.client, fails: why}, c, 1000); !errors.Is(err, why) {
		t.Errorf("the record fails with %v", err)
	}
}
