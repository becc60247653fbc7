package webhooks_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/webhooks"
)

// A damaged hook is logged once, and another hook gets its events.
func TestDamagedHookStopsNoOther(t *testing.T) {
	tab, receiver, log := newTable(t), newReceiver(t, nil), &commenttest.Transcript{}
	tab.put(layout.HookKey("damaged"), layout.AttrHook, layout.Text("ada@shop.example"))
	h := tab.add(receiver.URL)
	tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	want := tab.edit(2, 2, time.Now())
	tab.await("all is delivered", func() bool { return receiver.has(want) })
	if text := log.String(); strings.Count(text, "HOOKS/damaged") != 1 || strings.Contains(text, "ada@") {
		t.Error(text)
	}
	must.Do(t, tab.store.Remove(t.Context(), h.ID))
	if wanted, err := tab.out.Wanted(t.Context()); err != nil || len(wanted) == 0 {
		t.Errorf("a damaged hook is left, which wants events: %v, %v", wanted, err)
	}
}

// A hook whose progress is damaged gets all events again, and the log says so.
func TestDamagedProgressBeginsAnew(t *testing.T) {
	for name, value := range map[string]types.AttributeValue{"no JSON": layout.Text("ada@shop.example"), "no text": layout.Number(7)} {
		t.Run(name, func(t *testing.T) {
			tab, receiver, log := newTable(t), newReceiver(t, nil), &commenttest.Transcript{}
			h := tab.add(receiver.URL)
			tab.put(layout.HookProgressKey(h.ID), layout.AttrHook, value)
			want := tab.edit(2, 2, time.Now())
			tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
			tab.await("all is delivered", func() bool { return receiver.has(want) })
			if text := log.String(); !strings.Contains(text, "the progress of a hook cannot be read") || strings.Contains(text, "ada@") {
				t.Error(text)
			}
		})
	}
}

// Unreadable events are logged once, and the hook gets the events after them.
func TestDamagedEventsStopNoOthers(t *testing.T) {
	tab, receiver, log := newTable(t), newReceiver(t, nil), &commenttest.Transcript{}
	tab.add(receiver.URL)
	ends := must.Get(tab.out.Ends(t.Context()))(t)
	for lane, end := range ends {
		tab.put(layout.OutboxItem(lane, layout.Outbox{Number: end>>7 + 1}), "e", layout.Text("ada@shop.example"))
	}
	want := tab.edit(8, 2, time.Now())
	tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	tab.await("all is delivered", func() bool { return receiver.has(want) && strings.Count(log.String(), "OUT#") >= len(ends) })
	if text := log.String(); strings.Count(text, "level=") != len(ends) || strings.Contains(text, "ada@") {
		t.Error(text)
	}
}

// Events that expired before a hook got them do not hold up others, in whatever order they expire.
// The log says that some are lost, and the state of the hook that an event waited for as long as
// events are kept. If nothing is left in the log, nobody knows that until a process delivers the
// hook.
func TestExpiredEventsStopNoOthers(t *testing.T) {
	for name, expired := range map[string][3]bool{"the oldest": {true, true}, "later ones first": {false, true}, "all": {true, true, true}} {
		t.Run(name, func(t *testing.T) {
			tab, receiver, log := newTable(t), newReceiver(t, nil), &commenttest.Transcript{}
			h := tab.add(receiver.URL)
			before, want, gone := h.Begin, map[string][]string{}, []layout.Item{}
			for lane, begin := range h.Begin { // the items before them expired earlier
				gone = append(gone, layout.OutboxItem(lane, layout.Outbox{Number: begin >> 7}))
				tab.put(layout.OutboxKey(layout.OutboxStartPrefix+fmt.Sprint(lane)), layout.AttrOutboxStart, layout.Time(time.Now().Add(-outbox.Keep)))
			}
			for _, expires := range expired {
				appended := tab.edit(64, 2, time.Now()) // so many that each lane has events
				ends := must.Get(tab.out.Ends(t.Context()))(t)
				for lane, end := range ends {
					for number := before[lane]>>7 + 1; expires && number <= end>>7; number++ {
						gone = append(gone, layout.OutboxItem(lane, layout.Outbox{Number: number}))
					}
				}
				before = ends
				if !expires {
					maps.Copy(want, appended)
				}
			}
			for _, item := range gone {
				key := layout.Item{layout.AttrPK: item[layout.AttrPK], layout.AttrSK: item[layout.AttrSK]}
				must.Get(tab.client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: aws.String(tab.name), Key: key}))(t)
			}
			states, _, err := tab.store.States(t.Context())
			if err != nil || len(states) != 1 || (states[0].Lag(time.Now()) >= outbox.Keep) != (expired[0] && !expired[2]) {
				t.Errorf("%+v, %v", states, err)
			}
			tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(log, nil)) })
			tab.await("all others are delivered, and the log names the loss", func() bool {
				return receiver.has(want) && strings.Contains(log.String(), "events of a hook expired")
			})
			receiver.mu.Lock()
			defer receiver.mu.Unlock()
			if !maps.EqualFunc(receiver.order, want, slices.Equal) {
				t.Errorf("it got %v, want %v; the log:\n%s", receiver.order, want, log)
			}
		})
	}
}

// meanwhile is a client that runs a function before each put and each delete.
type meanwhile struct {
	outbox.Client
	before func(item layout.Item)
}

func (m meanwhile) DeleteItem(ctx context.Context, input *dynamodb.DeleteItemInput, options ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	m.before(input.Key)
	return m.Client.DeleteItem(ctx, input, options...)
}

func (m meanwhile) PutItem(ctx context.Context, input *dynamodb.PutItemInput, options ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	m.before(input.Item)
	return m.Client.PutItem(ctx, input, options...)
}

// A table has at most 20 hooks, damaged ones included, and takes none that cannot be delivered to.
func TestMostHooks(t *testing.T) {
	tab := newTable(t)
	tab.put(layout.HookKey("damaged"), layout.AttrHook, layout.Text("ada@shop.example"))
	hook := webhooks.Hook{URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour}
	nowhere := hook
	nowhere.URL = "file:///etc/passwd"
	for i := range 19 {
		if _, err := tab.store.Add(t.Context(), nowhere); comment.KindOf(err) != comment.BadInput {
			t.Error(err)
		}
		tab.add(fmt.Sprint(hook.URL, "/", i))
	}
	if _, err := tab.store.Add(t.Context(), hook); comment.KindOf(err) != comment.BadInput {
		t.Error(err)
	}
	must.Do(t, tab.store.Remove(t.Context(), "damaged"))
	tab.add(hook.URL)
}

// A hook that is added while the last other hook is removed gets events, in whatever order their
// steps happen.
func TestAHookIsAddedWhileTheLastIsRemoved(t *testing.T) {
	hook := webhooks.Hook{URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour}
	add := func(s *webhooks.Store, _ string) error {
		_, err := s.Add(t.Context(), hook)
		return err
	}
	remove := func(s *webhooks.Store, last string) error { return s.Remove(t.Context(), last) }
	for name, row := range map[string]struct {
		first, between func(s *webhooks.Store, last string) error
		at             func(item layout.Item) bool
	}{
		"a removal before the hook is there": {add, remove, func(item layout.Item) bool { return item[layout.AttrHook] != nil }},
		"an addition before the last step of a removal": {remove, add, func(item layout.Item) bool {
			return strings.HasPrefix(layout.NewReader(item).Text(layout.AttrSK), layout.OutboxWantPrefix)
		}},
	} {
		tab := newTable(t)
		last := tab.add("https://shop.example/last").ID
		var err error
		slow := meanwhile{tab.client, func(item layout.Item) {
			if row.at(item) {
				row.at = func(layout.Item) bool { return false }
				err = row.between(tab.store, last)
			}
		}}
		slower := row.first(webhooks.NewStore(slow, tab.name, outbox.New(slow, tab.name)), last)
		wanted, unread := outbox.New(tab.client, tab.name).Wanted(t.Context())
		if err != nil || slower != nil || unread != nil || len(wanted) == 0 {
			t.Errorf("%s: %v want events; %v, %v, %v", name, wanted, err, slower, unread)
		}
	}
}

// A removal of the last hook that is interrupted at any call is completed by the next: then nobody
// wants events, and no progress is left.
func TestRemovalIsInterrupted(t *testing.T) {
	for n, ended := 1, false; !ended; n++ {
		tab := newTable(t)
		id := tab.add("https://shop.example/last").ID
		key := layout.HookProgressKey(id)
		progress := maps.Clone(key)
		progress[layout.AttrHook] = layout.Text("{}")
		must.Get(tab.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &tab.name, Item: progress}))(t)
		ctx, end := context.WithCancel(t.Context())
		client, _ := faulttest.Under(tab.client, func(call int) faulttest.Fault {
			if call < n {
				return faulttest.None
			}
			end()
			return faulttest.AnswerLost
		})
		ended = webhooks.NewStore(client, tab.name, outbox.New(client, tab.name)).Remove(ctx, id) == nil
		end()
		if err := tab.store.Remove(t.Context(), id); err != nil && comment.KindOf(err) != comment.NotFound {
			t.Errorf("interrupted at call %d: %v", n, err)
		}
		wanted, err := outbox.New(tab.client, tab.name).Wanted(t.Context())
		left := must.Get(call.Item(t.Context(), tab.client, tab.name, key, "progress"))(t)
		if err != nil || len(wanted) > 0 || len(left) > 0 {
			t.Errorf("interrupted at call %d: %v want events, and there is progress %v; %v", n, wanted, left, err)
		}
	}
}
