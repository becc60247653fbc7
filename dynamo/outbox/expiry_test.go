package outbox_test

import (
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// A process that appended long ago appends after all others when events are wanted again, though
// everything that it knew has expired.
func TestAppendAfterAllHasExpired(t *testing.T) {
	client, table := newTable(t)
	old, h := outbox.New(client, table), newHistory(commenttest.Rand(t), 1, 1, 3)
	outbox.SetClock(old, func() time.Time { return time.Now().Add(-outbox.Keep - 24*time.Hour) })
	must.Do(t, old.Want(t.Context(), "test", 0))
	appends := func(out *outbox.Outbox, change int) {
		t.Helper()
		must.Do(t, out.After(counter{}).Handle(t.Context(), h.shards[0][change:change+1]))
	}
	appends(old, 0)
	lane, want := 0, outbox.Of(h.shards[0][2])
	for id := range h.want {
		lane = outbox.LaneOf(id)
	}
	ends, err := old.Ends(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for number := ends[lane] >> 7; number > ends[lane]>>7-2; number-- { // the change, and the mark before it
		key := layout.Item{"PK": layout.OutboxLanePK(lane), "SK": layout.Text(layout.OutboxSK(number))}
		if _, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &table, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
	gone := ends[lane]
	if _, err := old.Read(t.Context(), lane, gone-1, 10); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("in an item that is gone, and no other is left: %v", err)
	}
	appends(outbox.New(client, table), 1)
	if _, err := old.Read(t.Context(), lane, gone, 10); !errors.Is(err, outbox.ErrGone) {
		t.Errorf("behind all events of a lane that began anew: %v", err)
	}
	if ends, err = old.Ends(t.Context()); err != nil {
		t.Fatal(err)
	}
	outbox.SetClock(old, time.Now)
	appends(old, 2)
	batch, err := old.Read(t.Context(), lane, ends[lane], 10)
	if err != nil || len(batch.Events) != len(want) || batch.Events[0].ID != want[0].ID {
		t.Errorf("behind the second change are %+v; %v", batch.Events, err)
	}
}
