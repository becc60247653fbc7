package command_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// A hook that is added while a process counts receives a comment that is added then. Every command
// about it reports what it did.
func TestHooks(t *testing.T) {
	t.Setenv("SHOP_HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	var taken atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		if strings.HasPrefix(request.Header.Get("webhook-id"), "evt_") {
			taken.Add(1)
		}
	}))
	defer receiver.Close()
	does := func(want string, arguments ...string) string {
		t.Helper()
		status, out, said := a.talkback(append([]string{"hooks"}, arguments...)...)
		if status != 0 || !strings.Contains(out, want) {
			t.Errorf("%v: status %d\n%s%s, want %s", arguments, status, out, said, want)
		}
		return out
	}
	does("There are no hooks", "list")
	id := strings.Fields(does("gets events from now on", "add", receiver.URL, "--allow-private", "--secret-env", "SHOP_HOOK", "--events", "comment.added"))[1]

	c := commenttest.Random(commenttest.Rand(t), "teapot")
	c.Status, c.Moderation, c.Author.Imported = comment.Approved, nil, false
	must.Get(dynamo.NewStore(a.session.Client, a.session.Table, dynamo.Options{}).Add(t.Context(), c, ""))(t)
	admin := freeAddress(t)
	count, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		talkback(count, "stream", "--endpoint", a.session.Address, "--table", a.session.Table, "--admin-listen", admin)
	}()
	must.Wait(t, "the hook is told, and that is known", func() bool {
		if taken.Load() == 0 {
			return false
		}
		_, out, _ := a.talkback("hooks", "list")
		return strings.Contains(out, "1 delivered")
	})
	measured := scrape(t, admin)
	if _, shown := measured[fmt.Sprintf("talkback_hook_lag_seconds{talkback_hook=%q}", id)]; !shown || measured[fmt.Sprintf("talkback_hook_deliveries_total{talkback_hook=%q,talkback_outcome=\"delivered\"}", id)] < 1 {
		t.Errorf("measured: %v", since(nil, measured, "talkback_hook"))
	}
	stop()
	<-ended
	if out := does("1 delivered", "list"); !strings.Contains(out, "delivered by no process") || !strings.Contains(out, receiver.URL) {
		t.Error(out)
	}
	if status, out, said := a.talkback("doctor", "--listen", "127.0.0.1:0"); status != 1 || !strings.Contains(out, "hook "+id) || !strings.Contains(out, "no process reads the stream") {
		t.Errorf("doctor: status %d\n%s%s", status, out, said)
	}
	does("has no dead letters", "dead", id)
	does("took 0 events", "redeliver", id)
	does("took a test event", "test", id)
	does("until talkback hooks resume", "pause", id)
	does("paused", "list")
	does("goes on", "resume", id)
	does("is removed", "remove", id)
	t.Setenv("CDN_TOKEN", "token")
	cdn := strings.Fields(does("gets events", "add", receiver.URL, "--allow-private", "--purge", "fastly", "--secret-env", "CDN_TOKEN"))[1]
	does("as purges of fastly", "list")
	does("took a test event", "test", cdn)
	does("is removed", "remove", cdn)

	if status, _, said := a.talkback("hooks", "pause", id); status != 1 || !strings.Contains(said, "there is no hook") {
		t.Errorf("a hook that was removed: status %d, %s", status, said)
	}
	status, _, said := a.talkback("hooks", "replay", id, "--since", "yesterday")
	if status != 2 || !strings.Contains(said, "a time of the last 14 days") {
		t.Errorf("a time that is none: status %d, %s", status, said)
	}
	example := regexp.MustCompile(`\S+$`).FindString(strings.TrimSpace(said))
	if _, _, said := a.talkback("hooks", "replay", id, "--since", example); !strings.Contains(said, "there is no hook") {
		t.Errorf("the example %q is refused: %s", example, said)
	}
}

// Each item of a hook that was damaged by hand is named with its cure and without its values. The
// other hooks are listed and delivered, and the cure works.
func TestDamagedHooks(t *testing.T) {
	t.Setenv("SHOP_HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer receiver.Close()
	_, added, _ := a.talkback("hooks", "add", receiver.URL, "--allow-private", "--secret-env", "SHOP_HOOK")
	id := strings.Fields(added)[1]
	puts := func(key, attributes layout.Item) {
		t.Helper()
		maps.Copy(key, attributes)
		put(t, a.session.Client, a.session.Table, key)
	}
	const address = "ada@shop.example"
	damaged := map[string]layout.Item{
		"lacking": {"x": layout.Text(address)},
		"number":  {layout.AttrHook: layout.Number(-1)},
		"torn":    {layout.AttrHook: layout.Text(`{"ID":"torn","URL":"` + address)},
		"null":    {layout.AttrHook: layout.Text("null")},
		"empty":   {layout.AttrHook: layout.Text("{}")},
		"large":   {layout.AttrHook: layout.Text(strings.Repeat(address, 300<<10/len(address)))},
		"other":   {layout.AttrHook: layout.Text(`{"ID":"` + id + `","URL":"https://shop.example","SecretEnv":"S","GiveUp":3600000000000}`)},
		"below":   {layout.AttrHook: layout.Text(`{"ID":"below","URL":"https://shop.example","SecretEnv":"S","GiveUp":-1}`)},
		"typed":   {layout.AttrHook: layout.Text(`{"ID":"typed","URL":["` + address + `"]}`)},
	}
	for name, attributes := range damaged {
		puts(layout.HookKey(name), attributes)
	}
	a.names(1, damaged, "HOOKS/", "talkback hooks remove ", "hooks", "list")
	a.names(1, damaged, "HOOKS/", "talkback hooks remove ", "doctor", "--listen", "127.0.0.1:0")
	if _, out, _ := a.talkback("hooks", "list"); !strings.Contains(out, receiver.URL) {
		t.Errorf("the hook that is not damaged is not listed:\n%s", out)
	}
	if status, _, said := a.talkback("hooks", "test", id); status != 0 {
		t.Error(said)
	}
	if status, _, said := a.talkback("hooks", "pause", "torn"); status != 1 || !strings.Contains(said, "talkback hooks remove torn, and add it again; talkback hooks replay") {
		t.Errorf("status %d, %s", status, said)
	}
	for name := range damaged {
		if status, _, said := a.talkback("hooks", "remove", name); status != 0 {
			t.Errorf("remove %s: status %d, %s", name, status, said)
		}
	}
	if status, out, said := a.talkback("hooks", "list"); status != 0 {
		t.Errorf("status %d\n%s%s", status, out, said)
	}

	letters := map[string]layout.Item{
		"evt_torn":  {layout.AttrHook: layout.Text(`{"ID":"evt_torn","Product":"` + address)},
		"evt_other": {layout.AttrHook: layout.Text(`{"ID":"evt_1"}`)},
		"evt_none":  {layout.AttrTTL: layout.Number(time.Now().Add(time.Hour).Unix())},
	}
	for event, attributes := range letters {
		puts(layout.DeadEventKey(id, event), attributes)
	}
	puts(layout.DeadEventKey(id, "evt_well"), layout.Item{layout.AttrHook: layout.Text(`{"ID":"evt_well","Kind":"comment.added","Reason":"it answers 410 Gone"}`)})
	a.names(1, letters, layout.DeadEventPrefix, "talkback hooks replay "+id, "hooks", "dead", id)
	if _, out, _ := a.talkback("hooks", "dead", id); !strings.Contains(out, "evt_well") {
		t.Errorf("the event that is not damaged is not listed:\n%s", out)
	}
	a.names(1, letters, layout.DeadEventPrefix, "talkback hooks replay "+id, "hooks", "redeliver", id)
	if _, out, _ := a.talkback("hooks", "dead", id); strings.Contains(out, "evt_well") {
		t.Errorf("the event that is not damaged was not delivered:\n%s", out)
	}
}

// names runs a command, which must name each damaged item and the cure, and no address of the
// items.
func (a *api) names(want int, damaged map[string]layout.Item, before, cure string, arguments ...string) {
	a.tb.Helper()
	status, out, said := a.talkback(arguments...)
	all := strings.Join(strings.Fields(out+said), " ")
	for name := range damaged {
		if !strings.Contains(all, before+name) {
			a.tb.Errorf("%v does not name %s", arguments, name)
		}
	}
	if status != want || !strings.Contains(all, cure) || strings.Contains(all, "ada@") || strings.Contains(all, "panic") {
		a.tb.Errorf("%v: status %d\n%s%s", arguments, status, out, said)
	}
}
