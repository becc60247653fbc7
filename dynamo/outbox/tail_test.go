package outbox_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
)

// memory holds the items of one lane, in order. Its first query fails.
type memory struct {
	outbox.Client
	lane types.AttributeValue

	mu     sync.Mutex
	failed bool
	items  []layout.Item
}

func sortKey(it layout.Item) string { return it["SK"].(*types.AttributeValueMemberS).Value }

func (m *memory) Query(_ context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &dynamodb.QueryOutput{}
	switch lane := in.ExpressionAttributeValues[":lane"].(*types.AttributeValueMemberS); {
	case lane.Value != m.lane.(*types.AttributeValueMemberS).Value:
		return out, nil
	case !m.failed:
		m.failed = true
		return nil, comment.Errorf(comment.Throttled, "busy")
	}
	from := in.ExpressionAttributeValues[":from"].(*types.AttributeValueMemberS).Value
	for _, it := range m.items {
		if sortKey(it) >= from {
			out.Items = append(out.Items, it)
		}
	}
	if !*in.ScanIndexForward {
		slices.Reverse(out.Items)
	}
	out.Items = out.Items[:min(len(out.Items), int(*in.Limit))]
	return out, nil
}

func (m *memory) PutItem(_ context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.items = append(m.items, in.Item)
	return &dynamodb.PutItemOutput{}, nil
}

// A follower of the log gets batch after batch, and an item before a lane could be empty. A
// temporary error is reported. An error of the follower ends the tail.
func TestTail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lane, items = 2, 150
		m := &memory{lane: layout.OutboxLanePK(lane)}
		for number := range items {
			m.items = append(m.items, layout.OutboxItem(lane, layout.Outbox{Number: uint64(number + 1), Expires: time.Now().Add(outbox.Keep / 2)}))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var failures, batches []string
		enough, began := errors.New("enough"), time.Now()
		err := outbox.New(m, "comments").Tail(ctx, outbox.Position{}, func(_ context.Context, of int, batch outbox.Batch) error {
			var at outbox.Position
			at[of] = batch.Last >> 7
			if batches = append(batches, at.String()); len(batches) == 2 {
				return enough
			}
			return nil
		}, func(err error) { failures = append(failures, err.Error()) })
		if want := []string{"0.0.100.0", "0.0.151.0"}; !errors.Is(err, enough) || !slices.Equal(batches, want) || len(failures) != 1 {
			t.Errorf("batches to %v, failures %v: %v", batches, failures, err)
		}
		if took := time.Since(began); took > 3*time.Second { // the wait after the failure
			t.Errorf("it took %v", took)
		}
		// The oldest items expire in no order.
		m.items = slices.Delete(m.items, 20, 21)
		if batch, err := outbox.New(m, "comments").Read(t.Context(), lane, 0, 100); err != nil || !batch.Missing {
			t.Errorf("events that have expired between others: missing is %v, %v", batch.Missing, err)
		}
		err = outbox.New(m, "comments").Tail(ctx, outbox.Position{lane: 20<<7 | 127}, nil, func(err error) { t.Error(err) })
		if !errors.Is(err, outbox.ErrGone) {
			t.Errorf("from before an event that has expired: %v", err)
		}
	})
}
