package leases_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// takeover is a table in which another process takes over the work after some writes.
type takeover struct {
	writes, after atomic.Int64
	last          atomic.Pointer[layout.Item]
}

func (c *takeover) PutItem(_ context.Context, input *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if c.writes.Add(1) > c.after.Load() {
		return nil, &types.ConditionalCheckFailedException{}
	}
	item := layout.Item(input.Item)
	c.last.Store(&item)
	return &dynamodb.PutItemOutput{}, nil
}

func (*takeover) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

func (*takeover) DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, nil
}

// Held work saves its progress with every heartbeat, so that no other process takes it over. A
// process that lost its work stops. A heartbeat after the end does not restore the item.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &takeover{}
		client.after.Store(11) // one write that acquires, and ten heartbeats
		work := leases.NewWork(leases.WorkOptions{
			Client: client, Table: "t", Key: layout.Key("WORK", "w"), Name: "a rebuild", Who: "test",
			Heartbeat: time.Second, Progress: func() layout.Item { return layout.Item{} },
		})
		must.Get(work.Acquire(t.Context()))(t)
		began := time.Now()
		err := work.Hold(t.Context(), time.Second, func(ctx context.Context) error {
			time.Sleep(9500 * time.Millisecond)
			if n := client.writes.Load(); n != 10 {
				t.Errorf("%d writes in 9.5 heartbeats, want one and nine", n)
			}
			if leases.HolderOf(*client.last.Load()).Interrupted {
				t.Error("work that is under way is interrupted")
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
				t.Error("the work goes on beside the process that took it over")
			}
			return ctx.Err()
		})
		if comment.KindOf(err) != comment.Conflict || time.Since(began) != 11*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		client.after.Store(1 << 40)
		must.Do(t, work.Finish(t.Context()))
		before := client.writes.Load()
		if err := work.Save(t.Context()); err != nil || client.writes.Load() != before {
			t.Errorf("a late heartbeat writes the item of work that is done: %v", err)
		}
		if leases.HolderOf(nil).Interrupted {
			t.Error("work that never began is interrupted")
		}
	})
}
