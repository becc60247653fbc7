package webhooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func secrets(name string) (string, bool) { return secret, name == "SECRET" }

// receiver receives events. Given random numbers, it fails nearly half the time.
type receiver struct {
	*httptest.Server
	t *testing.T

	mu    sync.Mutex
	order map[string][]string // IDs of events by comment, in the order of their first arrival
	seen  map[string]bool
	times int
}

func newReceiver(t *testing.T, r *rand.Rand) *receiver {
	out := &receiver{t: t, order: map[string][]string{}, seen: map[string]bool{}}
	out.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		out.mu.Lock()
		defer out.mu.Unlock()
		if r != nil && r.IntN(4) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		out.take(request)
		if r != nil && r.IntN(4) == 0 {
			panic(http.ErrAbortHandler) // the answer is lost
		}
	}))
	t.Cleanup(out.Close)
	return out
}

func (r *receiver) take(request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return
	}
	verifier := must.Get(standardwebhooks.NewWebhook(secret))(r.t)
	if err := verifier.Verify(body, request.Header); err != nil {
		r.t.Error(err)
	}
	var got struct {
		Type string
		Data struct{ Product, Comment string }
	}
	if err := json.Unmarshal(body, &got); err != nil || got.Type == "" || got.Data.Product != "espresso" {
		r.t.Errorf("%s: %v", body, err)
	}
	r.times++
	if id := request.Header.Get("webhook-id"); !r.seen[id] {
		r.seen[id] = true
		r.order[got.Data.Comment] = append(r.order[got.Data.Comment], id)
	}
}

// has reports whether all events arrived, in any order.
func (r *receiver) has(want map[string][]string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, ids := range want {
		if slices.ContainsFunc(ids, func(id string) bool { return !r.seen[id] }) {
			return false
		}
	}
	return true
}

// count returns how many events arrived, repeated ones included.
func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.times
}

// table is a table with an outbox of events.
type table struct {
	*testing.T
	client *dynamodb.Client
	name   string
	out    *outbox.Outbox
	store  *webhooks.Store
}

func newTable(t *testing.T) table {
	client, name := call.NewLocalClient(dynamotest.Dynoxide(t)), dynamotest.TableName(t)
	must.Do(t, dynamo.CreateTable(t.Context(), client, name))
	out := outbox.New(client, name)
	return table{t, client, name, out, webhooks.NewStore(client, name, out)}
}

func (t table) add(url string) webhooks.Hook {
	t.Helper()
	return must.Get(t.store.Add(t.Context(), webhooks.Hook{URL: url, SecretEnv: "SECRET", AllowPrivate: true, GiveUp: time.Hour}))(t)
}

// put puts an item with another attribute, by which tests damage it.
func (t table) put(item layout.Item, attribute string, value types.AttributeValue) {
	t.Helper()
	item[attribute] = value
	must.Get(t.client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &t.name, Item: item}))(t)
}

// append appends the events of records.
func (t table) append(records []stream.Record) {
	t.Helper()
	counted := func(context.Context, []stream.Record) error { return nil }
	must.Do(t, t.out.After(counted)(t.Context(), records))
}

// edit appends edits of comments, and returns the IDs of their events by comment.
func (t table) edit(comments, edits int, at time.Time) map[string][]string {
	t.Helper()
	want, records, began := map[string][]string{}, []stream.Record{}, int(time.Now().UnixNano())
	for k, c := range commenttest.Many(commenttest.Rand(t), "espresso", comments) {
		var old layout.Item
		for version := 2; version < edits+2; version++ {
			c.Version = version
			record := stream.Record{
				Position: stream.PositionOf("l", fmt.Sprint(began+k*1000+version)), Created: at, Keys: layout.CommentKey(c.ID), Old: old, New: layout.Encode(c),
			}
			for _, e := range outbox.Of(record) {
				want[string(c.ID)] = append(want[string(c.ID)], e.ID)
			}
			old, records = record.New, append(records, record)
		}
	}
	t.append(records)
	return want
}

// deliver starts a process that delivers through a client, until stop is called or the test ends.
func (t table) deliver(client outbox.Client, changes ...func(*webhooks.Options)) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	store := webhooks.NewStore(client, t.name, outbox.New(client, t.name))
	options := webhooks.Options{
		Store: store, Send: webhooks.NewSender(secrets).Send, Logger: slog.New(slog.DiscardHandler), Who: "test",
		Pace: webhooks.Pace{First: time.Millisecond, Longest: 5 * time.Millisecond}, Refresh: 50 * time.Millisecond, Heartbeat: 50 * time.Millisecond,
	}
	for _, change := range changes {
		change(&options)
	}
	d := webhooks.NewDeliverer(options)
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

// await waits until a condition holds.
func (t table) await(what string, so func() bool) {
	t.Helper()
	for !so() {
		select {
		case <-t.Context().Done():
			t.Fatal(what)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A receiver fails nearly half the time, calls of the table and their answers get lost, one process
// is killed, and another hook hangs. Nothing is lost, and each comment's events arrive in order.
func TestNothingIsLost(t *testing.T) {
	tab, r := newTable(t), commenttest.Rand(t)
	receiver := newReceiver(t, rand.New(rand.NewPCG(r.Uint64(), 0)))
	hung := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		select {
		case <-hung:
		case <-request.Context().Done():
		}
	}))
	t.Cleanup(hanging.Close)
	t.Cleanup(func() { close(hung) })
	tab.add(hanging.URL)
	tab.add(receiver.URL + "?token=secret")
	want := tab.edit(8, 12, time.Now())

	var killed atomic.Bool
	faults := faulttest.OneIn(r, 10)
	client, _ := faulttest.Under(tab.client, func(n int) faulttest.Fault {
		if killed.Load() {
			return faulttest.Refused
		}
		return faults(n)
	})
	tab.deliver(client)
	tab.await("some events", func() bool { receiver.mu.Lock(); defer receiver.mu.Unlock(); return len(receiver.seen) > 10 })
	killed.Store(true)
	second, _ := faulttest.Under(tab.client, faulttest.OneIn(r, 10))
	tab.deliver(second)
	tab.await("all events", func() bool { return receiver.has(want) })
	receiver.mu.Lock()
	defer receiver.mu.Unlock()
	for id, ids := range want {
		if !slices.Equal(receiver.order[id], ids) {
			t.Errorf("comment %s: %v, want %v", id, receiver.order[id], ids)
		}
	}
}

// An event that is refused for too long is given up, and the events after it are delivered. A
// replay has the same IDs. A paused hook waits, and a removed one gets nothing more.
func TestLifeOfAHook(t *testing.T) {
	tab := newTable(t)
	receiver := newReceiver(t, nil)
	var refuse atomic.Bool
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if refuse.Load() {
			w.WriteHeader(http.StatusGone)
			return
		}
		receiver.Config.Handler.ServeHTTP(w, request)
	}))
	t.Cleanup(front.Close)
	refuse.Store(true)
	h := tab.add(front.URL)
	want := tab.edit(3, 2, time.Now().Add(-2*time.Hour).Truncate(time.Second)) // older than the time for which events are tried
	all := 0
	for _, ids := range want {
		all += len(ids)
	}
	tab.deliver(tab.client)
	progress := func() webhooks.Progress {
		return must.Get(tab.store.Progress(t.Context(), h))(t)
	}
	tab.await("given up", func() bool { return progress().Sum().DeadLettered == all })
	if p := progress(); p.Sum().LastError != "it answers 410 Gone" {
		t.Errorf("%+v", p)
	}
	dead := func() (letters []webhooks.DeadLetter) {
		for letter, err := range tab.store.DeadLetters(t.Context(), h.ID) {
			must.Do(t, err)
			letters = append(letters, letter)
		}
		return letters
	}
	if letters := dead(); len(letters) != all || letters[0].Reason != "it answers 410 Gone" || letters[0].Product != "espresso" {
		t.Errorf("%d dead letters, such as %+v, want %d", len(letters), letters, all)
	}
	send := webhooks.NewSender(secrets).Send
	if n, err := tab.store.Redeliver(t.Context(), h, send); n != 0 || err == nil || !strings.Contains(err.Error(), "410") {
		t.Errorf("%d delivered to a receiver that refuses, %v", n, err)
	}
	refuse.Store(false)
	if n, err := tab.store.Redeliver(t.Context(), h, send); n != all || err != nil || !receiver.has(want) || len(dead()) > 0 {
		t.Errorf("%d of %d delivered, %v; left are %v", n, all, err, dead())
	}
	change := func(do func(*webhooks.Hook)) {
		var err error
		if h, err = tab.store.Change(t.Context(), h.ID, do); err != nil {
			t.Fatal(err)
		}
	}
	delivered := func(times int) {
		t.Helper()
		tab.await("all is delivered", func() bool {
			states, _, err := tab.store.States(t.Context())
			return err == nil && len(states) == 1 && states[0].Oldest.IsZero() && states[0].Progress.Who != "" && receiver.count() >= times
		})
		if p := progress().Sum(); receiver.count() != times || p.DeadLettered != all {
			t.Errorf("%d events arrived, want %d; the progress is %+v", receiver.count(), times, p)
		}
	}
	refuse.Store(true)
	change(webhooks.Replay(time.Now().Add(-3 * time.Hour)))
	tab.await("it is tried again, though it happened long ago", func() bool { return progress().Sum().Attempts > 0 })
	refuse.Store(false)
	delivered(2 * all)
	change(webhooks.Pause)
	tab.await("nobody delivers", func() bool { return progress().Who == "" })
	more, edited := 0, time.Now().Truncate(time.Second)
	for _, ids := range tab.edit(1, 1, edited) {
		more += len(ids)
	}
	change(webhooks.Resume)
	delivered(2*all + more)
	change(webhooks.Replay(edited.Add(time.Second - 1))) // events have whole seconds: they happened within that one
	delivered(2*all + 2*more)
	must.Do(t, tab.store.Remove(t.Context(), h.ID))
	if got := progress().Sum(); got != (webhooks.LaneProgress{}) {
		t.Errorf("of a removed hook, %+v is kept", got)
	}
	if _, err := tab.store.Find(t.Context(), h.ID); comment.KindOf(err) != comment.NotFound {
		t.Error(err)
	}
	if wanted, err := outbox.New(tab.client, tab.name).Wanted(t.Context()); err != nil || len(wanted) > 0 {
		t.Error(wanted, err)
	}
}

// A process without the secret leaves the hook to one that has it, and logs that once.
func TestSecretIsElsewhere(t *testing.T) {
	tab, receiver := newTable(t), newReceiver(t, nil)
	h := tab.add(receiver.URL)
	want := tab.edit(2, 3, time.Now())
	var said commenttest.Transcript
	var seen atomic.Pointer[[]webhooks.State]
	var rounds, delivered atomic.Int64
	tab.deliver(tab.client, func(o *webhooks.Options) {
		o.Ready, o.Logger = webhooks.NewSender(func(string) (string, bool) { return "", false }).Ready, slog.New(slog.NewTextHandler(&said, nil))
		o.States = func(all []webhooks.State) { seen.Store(&all); rounds.Add(1) }
		o.Tried = func(string, webhooks.Outcome) { t.Error("a process delivers that lacks the secret") }
	})
	tab.await("some rounds", func() bool { return rounds.Load() > 1 })
	if all := *seen.Load(); len(all) != 1 || all[0].Oldest.IsZero() || all[0].Progress.Who != "" {
		t.Errorf("%+v, want a hook that nobody delivers, and for which events wait", all)
	}
	tab.deliver(tab.client, func(o *webhooks.Options) {
		o.Ready = webhooks.NewSender(secrets).Ready
		o.Tried = func(hook string, outcome webhooks.Outcome) {
			if hook == h.ID && outcome == webhooks.Delivered {
				delivered.Add(1)
			}
		}
	})
	tab.await("all events", func() bool { return receiver.has(want) })
	tab.await("nothing waits", func() bool { all := *seen.Load(); return all[0].Oldest.IsZero() && all[0].Progress.Who == "test" })
	text := said.String()
	if strings.Count(text, "is left to other processes") != 1 || strings.Count(text, "SECRET is not set") != 1 || delivered.Load() == 0 {
		t.Errorf("logged:\n%s%d deliveries are heard of", text, delivered.Load())
	}
}

// Each reason why a delivery is refused names the cure, and leaves out the query of the address.
func TestSend(t *testing.T) {
	elsewhere := httptest.NewServer(http.RedirectHandler("https://example.com", http.StatusTemporaryRedirect))
	t.Cleanup(elsewhere.Close)
	unable := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }))
	t.Cleanup(unable.Close)
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(secure.Close)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	sender := webhooks.NewSender(func(name string) (string, bool) {
		return map[string]string{"SECRET": secret, "SHORT": "whsec_QQ==", "TEXT": "a password, which is none", "BLANK": " ", "THREE": strings.Repeat(secret+" ", 3)}[name], name != "NONE"
	})
	for name, row := range map[string]struct {
		hook webhooks.Hook
		want string
	}{
		"redirect":    {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "SECRET", AllowPrivate: true}, "307, a redirect"},
		"inside":      {webhooks.Hook{URL: secure.URL + "?token=x", SecretEnv: "SECRET"}, "--allow-private"},
		"by name":     {webhooks.Hook{URL: strings.Replace(secure.URL, "127.0.0.1", "localhost", 1), SecretEnv: "SECRET"}, "--allow-private"},
		"metadata":    {webhooks.Hook{URL: "http://169.254.169.254/?token=x", SecretEnv: "SECRET", AllowPrivate: true}, "metadata"},
		"translated":  {webhooks.Hook{URL: "https://[::7f00:1]/?token=x", SecretEnv: "SECRET"}, "--allow-private"},
		"certificate": {webhooks.Hook{URL: secure.URL, SecretEnv: "SECRET", AllowPrivate: true}, "certificate"},
		"unset":       {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "NONE", AllowPrivate: true}, "NONE is not set"},
		"short":       {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "SHORT", AllowPrivate: true}, "24 to 64 random bytes"},
		"no base64":   {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "TEXT", AllowPrivate: true}, "24 to 64 random bytes"},
		"blank":       {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "BLANK", AllowPrivate: true}, "24 to 64 random bytes"},
		"too many":    {webhooks.Hook{URL: elsewhere.URL, SecretEnv: "THREE", AllowPrivate: true}, "or two such with a space between them"},
		"nobody":      {webhooks.Hook{URL: "http://127.0.0.1:1/?token=x", SecretEnv: "SECRET", AllowPrivate: true}, "connection refused: check the address, and that its receiver runs"},
		"unable":      {webhooks.Hook{URL: unable.URL, SecretEnv: "SECRET", AllowPrivate: true}, "500 Internal Server Error: the log of the receiver may say why"},
	} {
		err := sender.Test(t.Context(), row.hook, "test_1")
		if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "token") {
			t.Errorf("%s: %v, want %s", name, err, row.want)
		}
	}
}

// While a receiver changes its secret, its hook has both, so that the old one and the new one
// verify each delivery.
func TestTwoSecrets(t *testing.T) {
	const next = "whsec_bmV4dCBuZXh0IG5leHQgbmV4dCBuZXh0IG5leHQ="
	verified := 0
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		body := must.Get(io.ReadAll(request.Body))(t)
		for _, key := range []string{secret, next} {
			if err := must.Get(standardwebhooks.NewWebhook(key))(t).Verify(body, request.Header); err != nil {
				t.Errorf("%s: %v", key, err)
			}
			verified++
		}
	}))
	defer receiver.Close()
	sender := webhooks.NewSender(func(string) (string, bool) { return next + " " + secret, true })
	must.Do(t, sender.Test(t.Context(), webhooks.Hook{URL: receiver.URL, SecretEnv: "SECRET", AllowPrivate: true}, "test_1"))
	if verified != 2 {
		t.Errorf("%d signatures were checked", verified)
	}
}

func TestCheck(t *testing.T) {
	good := webhooks.Hook{URL: "https://shop.example/hooks?token=x", SecretEnv: "SECRET", GiveUp: time.Hour}
	if err := good.Check(); err != nil || good.Address() != "https://shop.example/hooks" {
		t.Error(good.Address(), err)
	}
	for name, change := range map[string]func(*webhooks.Hook){
		"no TLS":          func(h *webhooks.Hook) { h.URL = "http://shop.example" },
		"no address":      func(h *webhooks.Hook) { h.URL = "shop.example" },
		"a user":          func(h *webhooks.Hook) { h.URL = "https://user:word@shop.example" },
		"another scheme":  func(h *webhooks.Hook) { h.URL = "file:///etc/passwd" },
		"this machine":    func(h *webhooks.Hook) { h.URL = "https://[::ffff:127.0.0.1]:8443/" },
		"by its name":     func(h *webhooks.Hook) { h.URL = "https://LOCALHOST.:8443/" },
		"by another":      func(h *webhooks.Hook) { h.URL = "https://shop.localhost" },
		"credentials":     func(h *webhooks.Hook) { h.URL, h.AllowPrivate = "http://169.254.169.254/", true },
		"the secret":      func(h *webhooks.Hook) { h.SecretEnv = secret },
		"a shell's":       func(h *webhooks.Hook) { h.SecretEnv = "$SECRET" },
		"no secret":       func(h *webhooks.Hook) { h.SecretEnv = "" },
		"an unknown kind": func(h *webhooks.Hook) { h.Kinds = []outbox.Kind{"comment.eaten"} },
		"no time":         func(h *webhooks.Hook) { h.GiveUp = 0 },
		"not UTF-8":       func(h *webhooks.Hook) { h.URL += "\xff" },
		"a name as such":  func(h *webhooks.Hook) { h.SecretEnv = "caf\xe9" },
		"a long address":  func(h *webhooks.Hook) { h.URL += strings.Repeat("x", 2048) },
		"a long name":     func(h *webhooks.Hook) { h.SecretEnv = strings.Repeat("X", 256) },
		"kinds twice":     func(h *webhooks.Hook) { h.Kinds = slices.Repeat(outbox.Kinds(), 2) },
		"an unknown CDN":  func(h *webhooks.Hook) { h.Purge = "akamai" },
	} {
		h := good
		change(&h)
		if err := h.Check(); comment.KindOf(err) != comment.BadInput || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	inside := good
	inside.URL, inside.AllowPrivate = "http://localhost:8443/", true
	if err := inside.Check(); err != nil {
		t.Error(err)
	}
}

// A hook that delivers the same events to the same address as another would deliver each twice. It
// is refused by the id of the other, also if that is paused.
func TestSameHookTwice(t *testing.T) {
	tab := newTable(t)
	of := func(change func(*webhooks.Hook)) webhooks.Hook {
		h := webhooks.Hook{URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour}
		change(&h)
		return h
	}
	first := must.Get(tab.store.Add(t.Context(), of(func(*webhooks.Hook) {})))(t)
	must.Get(tab.store.Change(t.Context(), first.ID, webhooks.Pause))(t)
	some := must.Get(tab.store.Add(t.Context(), of(func(h *webhooks.Hook) { h.Kinds = outbox.Kinds()[:2] })))(t)
	for name, row := range map[string]struct {
		change func(*webhooks.Hook)
		of     string
	}{
		"the same":           {func(*webhooks.Hook) {}, first.ID},
		"every kind by name": {func(h *webhooks.Hook) { h.Kinds = outbox.Kinds() }, first.ID},
		"the same kinds":     {func(h *webhooks.Hook) { h.Kinds = []outbox.Kind{outbox.Kinds()[1], outbox.Kinds()[0]} }, some.ID},
		"another secret":     {func(h *webhooks.Hook) { h.SecretEnv = "OTHER" }, first.ID},
		"another kind":       {func(h *webhooks.Hook) { h.Kinds = outbox.Kinds()[:1] }, ""},
		"another address":    {func(h *webhooks.Hook) { h.URL += "/hooks" }, ""},
		"a purge":            {func(h *webhooks.Hook) { h.Purge = "fastly" }, ""},
	} {
		_, err := tab.store.Add(t.Context(), of(row.change))
		if row.of == "" && err != nil || row.of != "" && (comment.KindOf(err) != comment.Conflict || !strings.Contains(err.Error(), "remove "+row.of)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Do(t, tab.store.Remove(t.Context(), first.ID))
	must.Get(tab.store.Add(t.Context(), of(func(*webhooks.Hook) {})))(t)
}

// Of two operators who add the same hook at the same time, one is refused, and her hook is gone.
func TestSameHookTwiceAtATime(t *testing.T) {
	tab := newTable(t)
	hook := webhooks.Hook{URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour}
	var faster webhooks.Hook
	slow := meanwhile{tab.client, func(item layout.Item) {
		if item[layout.AttrHook] != nil && faster.ID == "" {
			faster = must.Get(tab.store.Add(t.Context(), hook))(t)
		}
	}}
	_, err := webhooks.NewStore(slow, tab.name, tab.out).Add(t.Context(), hook)
	all, _, unread := tab.store.List(t.Context())
	if comment.KindOf(err) != comment.Conflict || unread != nil || len(all) != 1 || all[0].ID != faster.ID {
		t.Errorf("%v, %v; the hooks are %+v, want %s alone", err, unread, all, faster.ID)
	}
}

// A request to pause a hook that arrives after the hook was changed has no effect.
func TestPauseThatArrivesLate(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	ctx, end := context.WithCancel(t.Context())
	late, network := faulttest.Under(tab.client, func(call int) faulttest.Fault {
		if call == 1 { // the read before
			return faulttest.None
		}
		end()
		return faulttest.Late
	})
	if _, err := webhooks.NewStore(late, tab.name, tab.out).Change(ctx, h.ID, webhooks.Pause); err == nil {
		t.Error("Change reports no error, though its process ended")
	}
	must.Get(tab.store.Change(t.Context(), h.ID, webhooks.Resume))(t)
	must.Do(t, network.Flush())
	if h, err := tab.store.Find(t.Context(), h.ID); err != nil || h.Paused {
		t.Errorf("the hook is %+v, %v", h, err)
	}
}

// Of two operators who change a hook at the same time, one has to try again, and no change is lost.
func TestTwoChangeAHook(t *testing.T) {
	tab := newTable(t)
	h := tab.add("http://127.0.0.1:1")
	_, err := tab.store.Change(t.Context(), h.ID, func(slow *webhooks.Hook) {
		must.Get(tab.store.Change(t.Context(), h.ID, webhooks.Pause))(t)
		webhooks.Replay(time.Now())(slow)
	})
	if comment.KindOf(err) != comment.Conflict {
		t.Errorf("the later change has the error %v", err)
	}
	if h, err := tab.store.Find(t.Context(), h.ID); err != nil || !h.Paused || h.Replays != 0 {
		t.Errorf("the hook is %+v, %v", h, err)
	}
	if _, err := tab.store.Change(t.Context(), "0", webhooks.Pause); comment.KindOf(err) != comment.NotFound {
		t.Errorf("another hook is changed: %v", err)
	}
	lossy, _ := faulttest.Under(tab.client, faulttest.Nth(2, faulttest.AnswerLost)) // after the hook was read
	if _, err := webhooks.NewStore(lossy, tab.name, tab.out).Change(t.Context(), h.ID, webhooks.Resume); err != nil {
		t.Errorf("the answer to a change is lost: %v", err)
	}
}
