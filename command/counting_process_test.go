package command_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// uncounted is a table with comments that have never been counted.
func uncounted(t *testing.T) (*api, []comment.Comment) {
	t.Helper()
	a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
	comments := commenttest.Many(commenttest.Rand(t), "globe", 40)
	a.load(comments...)
	return a, comments
}

const askedTotal = `{ product(id: "globe") { comments(first: 1) { nodes { id } totalCount } } }`

func serveTable(t *testing.T, a *api, arguments ...string) *server {
	t.Helper()
	return startServer(t, append([]string{"--endpoint", a.session.Address, "--table", a.session.Table}, arguments...)...)
}

// Without a process that counts, queries for counts are refused for now, and all others are
// answered. A server that may count does so itself, logs it, and gives up its lease when it ends.
func TestServerCountsWhatNobodyCounted(t *testing.T) {
	t.Parallel()
	a, _ := uncounted(t)
	idle := serveTable(t, a, "--no-count")
	answer := idle.ask(askedTotal)
	for _, part := range []string{`"totalCount":null`, `"nodes":[{"id":"c_`, `UNAVAILABLE`, "counted for the first time"} {
		if !strings.Contains(answer, part) {
			t.Errorf("uncounted: %s lacks %s", answer, part)
		}
	}
	if status, out, _ := talkback(t.Context(), "stream", "--status", "--endpoint", a.session.Address, "--table", a.session.Table); status != 0 || !strings.HasPrefix(out, "Incomplete") {
		t.Errorf("status %d: %s", status, out)
	}

	busy := serveTable(t, a)
	a.drained(time.Now())
	must.Wait(t, "both servers tell the total", func() bool {
		return strings.Contains(busy.ask(askedTotal), `"totalCount":40`) && strings.Contains(idle.ask(askedTotal), `"totalCount":40`)
	})
	said := busy.stop()
	for _, part := range []string{"all comments are being counted", "all comments are counted", "products=1 comments="} {
		if !strings.Contains(said, part) {
			t.Errorf("the log lacks %q:\n%s", part, said)
		}
	}
	for _, lease := range a.leases() {
		if lease.Owner != "" {
			t.Errorf("a server that has ended still holds %+v", lease)
		}
	}
}

func (a *api) leases() []stream.Lease {
	a.tb.Helper()
	leases := leases.NewLeases(a.session.Client, a.session.Table)
	state := must.Get(leases.State(context.Background()))(a.tb)
	list, err := leases.List(context.Background(), state.Label)
	if err != nil || len(list) == 0 {
		a.tb.Fatal(list, err)
	}
	return list
}

// After records were lost, a process that counts counts everything again. Readers of the events
// learn that some are missing.
func TestGapIsClosed(t *testing.T) {
	t.Parallel()
	a, comments := uncounted(t)
	leases := leases.NewLeases(a.session.Client, a.session.Table)
	lost := stream.State{Since: time.Now(), Gap: &stream.Gap{Found: time.Now(), Reason: "the test says so"}}
	must.Do(t, leases.SwapState(t.Context(), stream.State{}, lost))
	events := outbox.New(a.session.Client, a.session.Table)
	must.Do(t, events.Want(t.Context(), "a test", time.Hour))
	ends := must.Get(events.Ends(t.Context()))(t)
	c := startCounter(t, a, inTable)
	a.drained(time.Now())
	for lane, end := range ends {
		must.Wait(t, "each lane says that events are missing", func() bool {
			batch, err := events.Read(t.Context(), lane, end, 100)
			return err == nil && batch.Missing
		})
	}
	must.Wait(t, "the log says that the gap is closed", func() bool { return strings.Contains(c.said.String(), "all comments are counted") })
	c.stop()
	for _, part := range []string{"all comments are being counted", "the test says so", "all comments are counted"} {
		if !strings.Contains(c.said.String(), part) {
			t.Errorf("the log lacks %q:\n%s", part, &c.said)
		}
	}
	found, _, err := dynamo.NewStore(a.session.Client, a.session.Table, dynamo.Options{}).StatsOf(t.Context(), []string{"globe"})
	if got := found["globe"].Counts(comment.Filter{}).Total(); err != nil || got != len(comments) {
		t.Errorf("%d comments are counted, %v", got, err)
	}
}

// Each process that counts erases authors for moderators: no other may be running beside servers
// that leave counting to it.
func TestProcessesThatCountErase(t *testing.T) {
	t.Parallel()
	for process, start := range map[string]func(*api) (stop func()){
		"talkback serve": func(a *api) func() {
			s := serveTable(t, a)
			return func() { s.stop() }
		},
		"talkback stream": func(a *api) func() { return startCounter(t, a, inTable).stop },
	} {
		a := &api{tb: t, session: newSession(t, dynamotest.Dynoxide(t))}
		c := commenttest.Random(commenttest.Rand(t), "globe")
		c.Author = comment.Author{ID: "ada", Name: "Ada"}
		a.load(c)
		must.Get(erasure.New(a.session.Client, a.session.Table, "", "").Start(t.Context(), c.Author))(t)
		stop := start(a)
		store := dynamo.NewStore(a.session.Client, a.session.Table, dynamo.Options{})
		must.Wait(t, process+" erases the comment", func() bool {
			_, err := store.Comment(t.Context(), c.ID)
			return comment.KindOf(err) == comment.NotFound
		})
		stop()
	}
}

// An import that leaves counting to others does not wait for them.
func TestImportWithoutCounting(t *testing.T) {
	t.Parallel()
	session := newSession(t, dynamotest.Dynoxide(t))
	status, out, said := talkback(t.Context(), "import", "testdata/api/kettle/data.jsonl", "--no-count", "--endpoint", session.Address, "--table", session.Table)
	if status != 0 || !strings.Contains(out, "written") || strings.Contains(out, "counted") {
		t.Errorf("status %d: %s%s", status, out, said)
	}
	a := &api{tb: t, session: session}
	if state, err := leases.NewLeases(a.session.Client, a.session.Table).State(t.Context()); err != nil || state.Version != 0 {
		t.Errorf("it counted all the same: %+v, %v", state, err)
	}
}
