package webhooks_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/webhooks"
)

// items counts reads of single items, and refuses them while it is away.
type items struct {
	outbox.Client
	read atomic.Int64
	away atomic.Bool
}

func (i *items) GetItem(ctx context.Context, input *dynamodb.GetItemInput, options ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	i.read.Add(1)
	if i.away.Load() {
		return nil, errors.New("away")
	}
	return i.Client.GetItem(ctx, input, options...)
}

// A process that leaves a hook to another process logs nothing about it, however often it looks. If
// it cannot look, it logs that, since then perhaps no process delivers to the hook.
func TestHookOfAnotherProcessIsNotLogged(t *testing.T) {
	const failed = "the events of a hook cannot be delivered for now"
	tab := newTable(t)
	r := newReceiver(t, nil)
	tab.add(r.URL)
	tab.deliver(tab.client)
	want := tab.edit(1, 1, time.Now())
	tab.await("the first process delivers", func() bool { return r.has(want) })
	second, logged := &items{Client: tab.client}, &said{}
	tab.deliver(second, func(o *webhooks.Options) {
		o.Logger, o.Heartbeat = slog.New(slog.NewTextHandler(logged, nil)), time.Second // the first process is alive
	})
	tab.await("the second process looks for what to do", func() bool { return second.read.Load() > 4 })
	if strings.Contains(logged.String(), failed) {
		t.Errorf("the hook is the other's, and yet:\n%s", logged)
	}
	second.away.Store(true)
	tab.await("the second process says that it cannot look", func() bool { return strings.Contains(logged.String(), failed) })
}

// If the stream lost changes, the log says that events of a hook may be missing. Later events arrive.
func TestHookOfALossyStream(t *testing.T) {
	tab, logged := newTable(t), &said{}
	r := newReceiver(t, nil)
	tab.add(r.URL)
	tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(logged, nil)) })
	first := tab.edit(1, 1, time.Now())
	tab.await("it delivers", func() bool { return r.has(first) })
	const missing = "events of a hook may be missing"
	if strings.Contains(logged.String(), missing) {
		t.Errorf("nothing is missing yet:\n%s", logged)
	}
	if err := tab.out.Lost(t.Context()); err != nil {
		t.Fatal(err)
	}
	later := tab.edit(2, 1, time.Now()) // one may be the same as before
	tab.await("it says so, and goes on", func() bool { return r.has(later) && strings.Contains(logged.String(), missing) })
}
