package webhooks

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/dynamo/outbox"
)

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
