package episode

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// engine answers every call and counts them.
type engine struct{ calls atomic.Int64 }

// Do implements faulttest.HTTPClient.
func (e *engine) Do(request *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, request.Body)
	e.calls.Add(1)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}"))}, nil
}

// ServeHTTP implements http.Handler.
func (e *engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	e.calls.Add(1)
	_, _ = io.WriteString(w, "{}")
}

func request(ctx context.Context, address, operation, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		panic(err)
	}
	r.Header.Set("X-Amz-Target", operation)
	return r
}

const (
	query   = "DynamoDB_20120810.Query"
	records = "DynamoDBStreams_20120810.GetRecords"
)

// outcome is the result of a call.
type outcome struct {
	status  int
	err     error
	took    time.Duration
	effects int64
}

func send(n *Network, e *engine, r *http.Request) outcome {
	before, began := e.calls.Load(), time.Now()
	response, err := n.Do(r)
	out := outcome{err: err, took: time.Since(began)}
	n.Settle()
	out.effects = e.calls.Load() - before
	if err == nil {
		out.status = response.StatusCode
		_ = response.Body.Close()
	}
	return out
}

// Each kind of trouble shows its own symptom, only while it lasts and only on its target.
func TestEpisodes(t *testing.T) {
	const delay = 700 * time.Millisecond
	for _, row := range []struct {
		kind          Kind
		first, second outcome
	}{
		{Throttled, outcome{status: 400}, outcome{status: 400}},
		{Slow, outcome{status: 200, took: delay, effects: 1}, outcome{status: 200, took: delay, effects: 1}},
		{HalfOpen, outcome{took: halfOpenWait, err: context.DeadlineExceeded}, outcome{took: halfOpenWait, err: context.DeadlineExceeded, effects: 1}},
		{AnswersLost, outcome{err: syscall.ECONNRESET, effects: 1}, outcome{err: syscall.ECONNRESET, effects: 1}},
		{Refused, outcome{err: syscall.ECONNREFUSED}, outcome{err: syscall.ECONNREFUSED}},
		{Failing, outcome{status: 500}, outcome{status: 500, effects: 1}},
	} {
		t.Run(string(row.kind), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := &engine{}
				n := Over(e)
				ask := func(operation, body string) outcome {
					return send(n, e, request(t.Context(), "http://table", operation, body))
				}
				healthy := outcome{status: 200, effects: 1}
				running := n.Begin(Episode{Kind: row.kind, Target: Index("byRating"), Delay: delay})
				check(t, "another index", healthy, ask(query, `{"IndexName":"byLang"}`))
				check(t, "the first call", row.first, ask(query, `{"IndexName":"byRating"}`))
				check(t, "the stream", healthy, ask(records, `{}`))
				check(t, "the second call", row.second, ask(query, `{"Limit":3,"IndexName":"byRating"}`))
				if calls := running.End(); calls != 2 {
					t.Errorf("%d calls were hit, want 2", calls)
				}
				check(t, "after the end", healthy, ask(query, `{"IndexName":"byRating"}`))
			})
		})
	}
}

func check(t *testing.T, when string, want, got outcome) {
	t.Helper()
	timedOut := want.err == context.DeadlineExceeded && isTimeout(got.err)
	if !timedOut && !errors.Is(got.err, want.err) || got.status != want.status || got.took != want.took || got.effects != want.effects {
		t.Errorf("%s: %+v, want %+v", when, got, want)
	}
}

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// Targets tell calls apart.
func TestTargets(t *testing.T) {
	for _, row := range []struct {
		target     Target
		name, body string
		hits       bool
	}{
		{Everything, records, `{}`, true},
		{Table, records, `{}`, false},
		{Table, query, `{}`, true},
		{Stream, records, `{}`, true},
		{Stream, query, `{}`, false},
		{Partition("P#cup/5"), query, `{":k":{"S":"P#cup/5"}}`, true},
		{Partition("P#cup/5"), query, `{":k":{"S":"P#cup"}}`, false},
		{Partition(`P#"ü"`), query, `{":k":{"S":"P#\"ü\""}}`, true},
		{PageIndex, query, `{":k":{"S":"R#cup"}}`, true},
		{PageIndex, query, `{":k":{"S":"P#R#"}}`, false},
	} {
		call := callOf(request(t.Context(), "http://table", row.name, ""), []byte(row.body))
		if got := row.target.Hits(call); got != row.hits {
			t.Errorf("%s hit by %s %s: %v", row.target.Name, row.name, row.body, got)
		}
	}
}

// A slow call arrives even if its caller has left.
func TestSlowCallArrivesLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := &engine{}
		n := Over(e)
		n.Begin(Episode{Kind: Slow, Target: Table, Delay: time.Second})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if got := send(n, e, request(ctx, "http://table", query, "{}")); got.err == nil || got.effects != 1 {
			t.Errorf("%+v, want an error and one effect", got)
		}
	})
}

// Settle may wait while more callers leave their calls, as callers in other processes do.
func TestSettleWhileCallsCome(t *testing.T) {
	n := Over(&engine{})
	n.Begin(Episode{Kind: HalfOpen, Target: Table})
	left, cancel := context.WithCancel(t.Context())
	cancel()
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range 100 {
				_, _ = n.Do(request(left, "http://table", query, "{}"))
				n.Settle()
			}
		})
	}
	callers.Wait()
	n.Settle()
}

// A schedule can be drawn again, prints itself, and is played on time.
func TestSchedule(t *testing.T) {
	s := Draw(7, Plan{Episodes: 20})
	if again := Draw(7, Plan{Episodes: 20}); s.String() != again.String() {
		t.Errorf("one seed gives\n%s\nand\n%s", s, again)
	}
	if other := Draw(8, Plan{Episodes: 20}); s.String() == other.String() {
		t.Error("another seed gives the same schedule")
	}
	if lines := strings.Count(s.String(), "\n"); lines != 21 {
		t.Errorf("%d lines, want a head and 20 episodes:\n%s", lines, s)
	}
	synctest.Test(t, func(t *testing.T) {
		n := Over(&engine{})
		began := time.Now()
		n.Play(t.Context(), s)
		if took := time.Since(began); took != s.Length() || len(n.running) > 0 {
			t.Errorf("it took %s, want %s; %d episodes still run", took, s.Length(), len(n.running))
		}
	})
}

// Behind the proxy, a caller meets real connections: answers, resets and silence.
func TestProxy(t *testing.T) {
	e := &engine{}
	behind := httptest.NewServer(e)
	defer behind.Close()
	address := must.Get(url.Parse(behind.URL))(t)
	n := Over(http.DefaultClient)
	defer n.Settle()
	proxy := httptest.NewServer(n.To(address))
	defer proxy.Close()
	for _, row := range []struct {
		kind   Kind
		status int
		reset  bool
	}{
		{"", 200, false}, {Throttled, 400, false}, {Failing, 500, false}, {AnswersLost, 0, true}, {Refused, 0, true}, {HalfOpen, 0, false},
	} {
		running := n.Begin(Episode{Kind: row.kind, Target: Everything})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if row.kind == HalfOpen {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
		response, err := http.DefaultClient.Do(request(ctx, proxy.URL, query, "{}"))
		cancel()
		running.End()
		status := 0
		if err == nil {
			status = response.StatusCode
			_ = response.Body.Close()
		}
		silent := errors.Is(err, context.Canceled)
		if status != row.status || silent != (row.kind == HalfOpen) || (err != nil && !silent) != row.reset {
			t.Errorf("%q: status %d, %v", row.kind, status, err)
		}
	}
}
