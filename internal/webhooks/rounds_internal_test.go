package webhooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// eventless is a table with hooks, and without any event.
type eventless struct {
	outbox.Client

	mu           sync.Mutex
	hooks        []layout.Item
	wanted       []layout.Item // who wants events
	list         func() error  // why the hooks cannot be read
	progress     error         // why their progress cannot be read
	listed, told int           // how often the hooks were read, and their states were told
	asked        int           // how often it was read who wants events
}

func (e *eventless) change(do func(*eventless)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	do(e)
}

func (e *eventless) Query(_ context.Context, input *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case layout.NewReader(input.ExpressionAttributeValues).OptionalText(":prefix") == layout.OutboxWantPrefix:
		e.asked++
		return &dynamodb.QueryOutput{Items: e.wanted}, nil
	case input.ExpressionAttributeValues[":lane"] != nil:
		return &dynamodb.QueryOutput{}, nil
	}
	e.listed++
	return &dynamodb.QueryOutput{Items: e.hooks}, e.list()
}

func (e *eventless) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return &dynamodb.GetItemOutput{}, e.progress
}

// An event that expires while it is retried fails no more.
func TestNothingFailsOnceItExpired(t *testing.T) {
	table := &eventless{}
	d := NewDeliverer(Options{Store: NewStore(table, "comments", outbox.New(table, "comments")), Logger: slog.New(slog.DiscardHandler)})
	own := &delivery{}
	own.progress.Lanes[0] = LaneProgress{Position: 3, Delivered: 7, Failing: "evt_1", Attempts: 2, Next: time.Now(), Since: time.Now(), LastError: "it answers 410 Gone"}
	d.skip(t.Context(), own)
	want := LaneProgress{Delivered: 7, LastError: "events expired before they were delivered"}
	if got := own.snapshot().Lanes[0]; got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// goodHook returns the item of a hook.
func goodHook(t *testing.T) layout.Item {
	text, err := json.Marshal(Hook{ID: "a", URL: "https://shop.example", SecretEnv: "SECRET", GiveUp: time.Hour})
	must.Do(t, err)
	item := layout.HookKey("a")
	item[layout.AttrHook] = layout.Text(string(text))
	return item
}

// A process reads the hooks in each round while there are any, and their states in every third. In
// a table without hooks it reads once, and again after an append saw that hooks want events.
func TestRounds(t *testing.T) {
	good, damaged := goodHook(t), layout.HookKey("b")
	wanted := []layout.Item{layout.OutboxKey(layout.OutboxWantPrefix + interest)}
	readable := func() error { return nil }
	const rounds = 11 // so that the last hook is removed before a round that is not a third one
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var log bytes.Buffer
		table := &eventless{list: readable}
		out, done := outbox.New(table, "comments"), make(chan struct{})
		go func() {
			defer close(done)
			NewDeliverer(Options{
				Store: NewStore(table, "comments", out), Logger: slog.New(slog.NewTextHandler(&log, nil)),
				Ready:  func(Hook) error { return errors.New("it is delivered elsewhere") },
				States: func([]State) { table.change(func(e *eventless) { e.told++ }) },
			}).Run(ctx)
		}()
		time.Sleep(refresh / 2) // so that each step begins between two rounds
		for _, step := range []struct {
			why          string
			do           func(*eventless)
			listed, told int
		}{
			{"there are no hooks", func(*eventless) {}, 1, 1},
			{"one is added, and an append sees it", func(e *eventless) { e.hooks, e.wanted = []layout.Item{good}, wanted }, rounds, 4},
			{"they cannot be read", func(e *eventless) { e.list = func() error { return errors.New("no network") } }, rounds, 0},
			{"their progress cannot be read", func(e *eventless) { e.list, e.progress = readable, errors.New("no rights") }, rounds, 0},
			{"only a damaged one is left", func(e *eventless) { e.hooks, e.wanted = []layout.Item{damaged}, nil }, rounds, rounds},
			{"it is removed", func(e *eventless) { e.hooks = nil }, 1, 1},
			{"one is added, and no append sees it", func(e *eventless) { e.hooks = []layout.Item{good} }, 0, 0},
		} {
			table.change(step.do)
			must.Get(out.Wanted(ctx))(t)
			time.Sleep(rounds * refresh)
			table.change(func(e *eventless) {
				if e.listed != step.listed || e.told != step.told {
					t.Errorf("%s: the hooks were read %d times, and their states told %d times", step.why, e.listed, e.told)
				}
				e.listed, e.told = 0, 0
			})
		}
		table.change(func(e *eventless) {
			e.wanted, e.list = wanted, func() error { stop(); return ctx.Err() } // the process ends meanwhile
		})
		must.Get(out.Wanted(ctx))(t)
		<-done
		if text := log.String(); strings.Count(text, "no network") != rounds || strings.Count(text, "no rights") != 3 || strings.Contains(text, "canceled") {
			t.Error(text)
		}
	})
}

// A process that reads no shard of the stream appends nothing. It finds the first hook of a table
// all the same, and reads once a minute for that.
func TestRoundsWithoutAShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &eventless{list: func() error { return nil }}
		found := make(chan struct{})
		go NewDeliverer(Options{
			Store: NewStore(table, "comments", outbox.New(table, "comments")), Logger: slog.New(slog.DiscardHandler),
			Appends: func() bool { return false },
			Ready:   func(Hook) error { close(found); return errors.New("it is delivered elsewhere") },
		}).Run(t.Context())
		time.Sleep(10*time.Minute + refresh/2)
		table.change(func(e *eventless) {
			if e.listed != 1 || e.asked != 10 {
				t.Errorf("in ten minutes without hooks, these were read %d times, and who wants events %d times", e.listed, e.asked)
			}
			e.hooks, e.wanted = []layout.Item{goodHook(t)}, []layout.Item{layout.OutboxKey(layout.OutboxWantPrefix + interest)}
		})
		select {
		case <-found:
		case <-time.After(time.Minute):
			t.Error("a minute later, the hook was not found")
		}
	})
}

// What cannot be read is an error, and not an empty list.
func TestUnreadTables(t *testing.T) {
	away := errors.New("no network")
	table := &eventless{list: func() error { return away }}
	s := NewStore(table, "comments", outbox.New(table, "comments"))
	if _, err := s.Redeliver(t.Context(), Hook{ID: "a"}, nil); !errors.Is(err, away) {
		t.Errorf("the dead letters: %v", err)
	}
	table.hooks, table.list, table.progress = []layout.Item{goodHook(t)}, func() error { return nil }, away
	if _, _, err := s.States(t.Context()); !errors.Is(err, away) {
		t.Errorf("the states: %v", err)
	}
}

// A process that takes over a hook waits no longer than after a failure of its own, even if the
// clock of the process before was five minutes ahead.
func TestNextTryByAClockThatWasAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &delivery{pace: DefaultPace}
		e := outbox.Event{ID: "evt_1"}
		d.progress.Lanes[2] = LaneProgress{Failing: e.ID, Attempts: 1, Next: time.Now().Add(5 * time.Minute)}
		began := time.Now()
		if err := d.resume(t.Context(), 2, e); err != nil || time.Since(began) > DefaultPace.First {
			t.Errorf("it waited for %v: %v", time.Since(began), err)
		}
	})
}

// Without times in its options, a deliverer has the pace that the guide states, and not retries,
// reads and writes without pauses.
func TestDefaultPace(t *testing.T) {
	if got := NewDeliverer(Options{}).options; got.Pace != DefaultPace || got.Refresh != refresh || got.Heartbeat != heartbeat {
		t.Errorf("%v, %v, %v", got.Pace, got.Refresh, got.Heartbeat)
	}
}

// answers answers requests without a network.
type answers func() *http.Response

// RoundTrip implements http.RoundTripper.
func (a answers) RoundTrip(*http.Request) (*http.Response, error) { return a(), nil }

// If a receiver asks for a pause, the deliverer waits that long, but no longer than the longest
// pause.
func TestReceiversThatAskToWait(t *testing.T) {
	begin := time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) // simulated time begins here
	half, pause := DefaultPace.First/2, DefaultPace.First
	for name, row := range map[string]struct {
		header            string
		shortest, longest time.Duration
	}{
		"it does not ask":          {"", half, pause},
		"for less than a pause":    {"0", half, pause},
		"for seconds":              {"30", 30 * time.Second, 30 * time.Second},
		"until a time":             {begin.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second, 90 * time.Second},
		"until a time in the past": {begin.Add(-time.Hour).Format(http.TimeFormat), half, pause},
		"for a day":                {"86400", time.Hour, time.Hour},
		"until another year":       {begin.AddDate(7000, 0, 0).Format(http.TimeFormat), time.Hour, time.Hour},
		"for 1,000 years":          {"31536000000", half, pause},
		"for less than nothing":    {"-30", half, pause},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := NewSender(func(string) (string, bool) { return "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", true })
				status := http.StatusTooManyRequests
				s.private.Transport = answers(func() *http.Response {
					response := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {row.header}}, Body: http.NoBody}
					status = http.StatusOK
					return response
				})
				d := &delivery{
					hook: Hook{URL: "http://shop.example", SecretEnv: "SECRET", AllowPrivate: true, GiveUp: 24 * time.Hour},
					send: s.Send, pace: DefaultPace, tried: func(Outcome) {},
				}
				if err := d.deliver(t.Context(), 0, []outbox.Event{{ID: "evt_1", At: time.Now()}}); err != nil {
					t.Fatal(err)
				}
				if waited := time.Since(begin); waited < row.shortest || waited > row.longest {
					t.Errorf("it waited for %v", waited)
				}
			})
		})
	}
}

// A failed event becomes a dead letter once the hook gives up, counted from the last replay. A
// dead letter that cannot be stored is not passed over.
func TestGiveUp(t *testing.T) {
	full := errors.New("the table is full")
	for name, row := range map[string]struct {
		replayed time.Duration // before now; 0 for never
		stored   error
		want     error
		position uint64
	}{
		"too old":                       {0, nil, nil, 7},
		"replayed just now":             {time.Second, nil, context.DeadlineExceeded, 0},
		"replayed long ago":             {2 * time.Hour, nil, nil, 7},
		"the dead letter is not stored": {0, full, full, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				d := &delivery{
					hook: Hook{GiveUp: time.Hour}, pace: DefaultPace, tried: func(Outcome) {},
					send: func(context.Context, Hook, ...outbox.Event) error { return errors.New("refused") },
					dead: func(context.Context, outbox.Event, error) error { return row.stored },
				}
				if row.replayed > 0 {
					d.hook.Replayed = time.Now().Add(-row.replayed)
				}
				err := d.deliver(ctx, 0, []outbox.Event{{ID: "evt_1", At: time.Now().Add(-3 * time.Hour), Number: 7}})
				if got := d.snapshot().Lanes[0].Position; !errors.Is(err, row.want) || got != row.position {
					t.Errorf("its position is %d, %v", got, err)
				}
			})
		})
	}
}
