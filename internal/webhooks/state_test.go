package webhooks_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/stream"
)

// The lag of a hook is that of the oldest event in any lane. Events before those of a replay do not
// count, nor do those from the future, by a clock that is ahead.
func TestLag(t *testing.T) {
	tab, now := newTable(t), time.Now().Truncate(time.Second)
	h, oldest := tab.add("http://127.0.0.1:1"), now
	var records []stream.Record
	for i, c := range commenttest.Many(commenttest.Rand(t), "espresso", 16) {
		at := now.Add(-time.Duration(outbox.LaneOf(c.ID)) * time.Minute)
		records = append(records, stream.Record{Position: stream.PositionOf("l", strconv.Itoa(i)), Created: at, Keys: layout.CommentKey(c.ID), New: layout.Encode(c)})
		if at.Before(oldest) {
			oldest = at
		}
	}
	tab.append(records)
	state := func() webhooks.State {
		states, _, err := tab.store.States(t.Context())
		if err != nil || len(states) != 1 {
			t.Fatal(states, err)
		}
		return states[0]
	}
	if s := state(); s.Lag(now) != now.Sub(oldest) || s.Lag(oldest.Add(-time.Minute)) != 0 {
		t.Errorf("an event waits since %v, want %v", s.Oldest, oldest)
	}
	must.Get(tab.store.Change(t.Context(), h.ID, func(h *webhooks.Hook) { h.Since = now.Add(time.Second) }))(t)
	if s := state(); !s.Oldest.IsZero() {
		t.Errorf("behind a replay, an event waits since %v", s.Oldest)
	}
}

// Damaged dead letters stay, and are told. All others are delivered.
func TestDamagedDeadLetters(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	for id, text := range map[string]string{"evt_1": "ada@shop.example", "evt_2": `{"ID":"evt_4"}`, "evt_3": `{"ID":"evt_3"}`} {
		tab.put(layout.DeadEventKey(h.ID, id), layout.AttrHook, layout.Text(text))
	}
	var sent []outbox.Event
	send := func(_ context.Context, _ webhooks.Hook, events ...outbox.Event) error {
		sent = append(sent, events...)
		return nil
	}
	for want := 1; want >= 0; want-- { // the second time, the damaged ones are left
		n, err := tab.store.Redeliver(t.Context(), h, send)
		if n != want || len(sent) != 1 || sent[0].ID != "evt_3" || !errors.As(err, new(webhooks.Damaged)) {
			t.Errorf("%d are delivered, in all %v: %v", n, sent, err)
		}
		if text := err.Error(); !strings.Contains(text, "evt_1") || !strings.Contains(text, "evt_2") || strings.Contains(text, "ada@") {
			t.Error(text)
		}
	}
}

// A dead letter is kept for 30 days from when its event was given up, as the guide says, and then
// expires. So an operator who returns from a holiday can still redeliver it.
func TestDeadLettersAreKeptFor30Days(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	began := time.Now().Truncate(time.Second)
	want := slices.Concat(slices.Collect(maps.Values(tab.edit(1, 1, time.Now().Add(-2*time.Hour))))...) // the hook gives up after an hour
	stop := tab.deliver(tab.client, func(o *webhooks.Options) {
		o.Send = func(context.Context, webhooks.Hook, ...outbox.Event) error { return errors.New("refused") }
	})
	var dead []string
	tab.await(fmt.Sprint(want, " are given up"), func() bool {
		dead = nil
		for letter, err := range tab.store.DeadLetters(t.Context(), h.ID) {
			must.Do(t, err)
			dead = append(dead, letter.ID)
		}
		return len(dead) == len(want)
	})
	stop()
	output, err := tab.client.GetItem(t.Context(), &dynamodb.GetItemInput{
		TableName: aws.String(tab.name), Key: layout.DeadEventKey(h.ID, dead[0]), ConsistentRead: aws.Bool(true),
	})
	must.Do(t, err)
	number, ok := output.Item[layout.AttrTTL].(*types.AttributeValueMemberN)
	if !ok {
		t.Fatal("it never expires")
	}
	seconds := must.Get(strconv.ParseInt(number.Value, 10, 64))(t)
	const kept = 30 * 24 * time.Hour
	if expires := time.Unix(seconds, 0); expires.Before(began.Add(kept)) || expires.After(time.Now().Add(kept)) {
		t.Errorf("it is kept until %v, for %v", expires, expires.Sub(began))
	}
}
