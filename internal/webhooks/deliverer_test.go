package webhooks_test

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/webhooks"
)

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
	var read atomic.Int64 // items
	var broken atomic.Bool
	second, logged := faulttest.Before(tab.client, "GetItem", func() {
		if read.Add(1); broken.Load() {
			panic("broken")
		}
	}), &commenttest.Transcript{}
	tab.deliver(second, func(o *webhooks.Options) {
		o.Logger, o.Heartbeat = slog.New(slog.NewTextHandler(logged, nil)), time.Second // the first process is alive
	})
	tab.await("the second process looks for what to do", func() bool { return read.Load() > 4 })
	if strings.Contains(logged.String(), failed) {
		t.Errorf("the hook is the other's, and yet:\n%s", logged)
	}
	broken.Store(true)
	tab.await("the second process says that it cannot look", func() bool { return strings.Contains(logged.String(), failed) })
}

// If the stream lost changes, the log says that events of a hook may be missing. Later events
// arrive, and the log says nothing else, even as the process ends.
func TestHookOfALossyStream(t *testing.T) {
	tab, logged := newTable(t), &commenttest.Transcript{}
	r := newReceiver(t, nil)
	h := tab.add(r.URL)
	stop := tab.deliver(tab.client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(logged, nil)) })
	first := tab.edit(1, 1, time.Now())
	tab.await("it delivers", func() bool { return r.has(first) })
	const missing = "events of a hook may be missing"
	if strings.Contains(logged.String(), missing) {
		t.Errorf("nothing is missing yet:\n%s", logged)
	}
	must.Do(t, tab.out.Lost(t.Context()))
	later := tab.edit(2, 1, time.Now())
	tab.await("it says so, and goes on", func() bool { return r.has(later) && strings.Contains(logged.String(), missing) })
	stop()
	if text := logged.String(); strings.Count(text, "level=") != strings.Count(text, missing) {
		t.Error(text)
	}
	if p, err := tab.store.Progress(t.Context(), h); err != nil || p.Who != "" {
		t.Errorf("a process that has ended still holds the hook: %+v, %v", p, err)
	}
}

// lanes counts reads of lanes of the log, and refuses them while it is away.
type lanes struct {
	outbox.Client
	read atomic.Int64
	away atomic.Bool
}

func (l *lanes) Query(ctx context.Context, input *dynamodb.QueryInput, options ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	if input.ExpressionAttributeValues[":lane"] != nil {
		if l.read.Add(1); l.away.Load() {
			return nil, comment.Errorf(comment.Unavailable, "away")
		}
	}
	return l.Client.Query(ctx, input, options...)
}

// While the events of a hook cannot be read, the log says so once. Then they are delivered.
func TestUnreadEventsAreLoggedOnce(t *testing.T) {
	tab, logged := newTable(t), &commenttest.Transcript{}
	r, client := newReceiver(t, nil), &lanes{Client: tab.client}
	tab.add(r.URL)
	want := tab.edit(1, 1, time.Now())
	client.away.Store(true)
	tab.deliver(client, func(o *webhooks.Options) { o.Logger = slog.New(slog.NewTextHandler(logged, nil)) })
	tab.await("each lane is tried", func() bool { return client.read.Load() > outbox.Lanes })
	client.away.Store(false)
	tab.await("it delivers", func() bool { return r.has(want) })
	if text := logged.String(); strings.Count(text, "level=") != 1 || !strings.Contains(text, "the events of a hook cannot be read") {
		t.Error(text)
	}
}

// A process that has just taken a new hook has saved where that begins. If it is killed before its
// first heartbeat, the next one delivers no event from before the hook.
func TestNewHookBegins(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	tab.deliver(tab.client, func(o *webhooks.Options) { o.Heartbeat = time.Hour })
	tab.await("a process has the hook", func() bool {
		p, err := tab.store.Progress(t.Context(), h)
		for i, lane := range p.Lanes {
			if p.Who != "" && lane.Position != h.Begin[i] {
				t.Fatalf("in lane %d, it begins at %d, and the hook at %d", i, lane.Position, h.Begin[i])
			}
		}
		return err == nil && p.Who != ""
	})
}
