package webhooks_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/webhooks"
)

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
	item := layout.HookKey("damaged")
	must.Get(tab.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(tab.name), Item: item}))(t)
	hook := webhooks.Hook{URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour}
	nowhere := hook
	nowhere.URL = "file:///etc/passwd"
	for range 19 {
		if _, err := tab.store.Add(t.Context(), nowhere); comment.KindOf(err) != comment.BadInput {
			t.Error(err)
		}
		tab.add(hook.URL)
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
		last := tab.add("https://shop.example").ID
		var err error
		slow := meanwhile{tab.client, func(item layout.Item) {
			if row.at(item) {
				row.at = func(layout.Item) bool { return false }
				err = row.between(tab.store, last)
			}
		}}
		slower := row.first(webhooks.NewStore(slow, tab.name, outbox.New(slow, tab.name)), last)
		wanted, unread := outbox.New(tab.client, tab.name).Wanted(t.Context())
		if err != nil || slower != nil || unread != nil || !wanted.Any() {
			t.Errorf("%s: %v want events; %v, %v, %v", name, wanted, err, slower, unread)
		}
	}
}
