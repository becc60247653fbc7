package leases_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

func TestMain(m *testing.M) { dynamotest.Main(m) }

func newTable(t *testing.T, endpoint string) (*dynamodb.Client, string) {
	t.Helper()
	client, table := call.NewLocalClient(endpoint), dynamotest.TableName(t)
	dynamotest.CreateTable(t, client, layout.Definition(table))
	return client, table
}

const leaseLabel = "2026-01-01T00:00:00.000"

// leaseStory is a sequence of writes of a lease and of the state, and the result of both.
type leaseStory struct {
	steps  []func(context.Context, *leases.Leases) error
	lease  stream.Lease
	state  stream.State
	letter stream.DeadLetter
}

func newLeaseStory(shard string) *leaseStory {
	s := &leaseStory{}
	now := time.Now().UTC().Truncate(time.Millisecond)
	swap := func(change func(*stream.Lease)) {
		old := s.lease
		next := old
		change(&next)
		next.Counter++
		s.lease = next
		s.steps = append(s.steps, func(ctx context.Context, l *leases.Leases) error { return l.Swap(ctx, leaseLabel, old, next) })
	}
	swapState := func(change func(*stream.State)) {
		old := s.state
		next := old
		change(&next)
		s.state = next
		s.state.Version++
		s.steps = append(s.steps, func(ctx context.Context, l *leases.Leases) error { return l.SwapState(ctx, old, next) })
	}
	swap(func(l *stream.Lease) { l.Shard, l.Parent = shard, "parent" })
	swapState(func(s *stream.State) { s.Label = leaseLabel })
	swap(func(l *stream.Lease) { l.Owner, l.Engine = "me", "http://127.0.0.1:1" })
	swap(func(l *stream.Lease) {
		l.Checkpoint, l.CaughtUp, l.DeadLetters, l.Heartbeat, l.Proven = "17", now, 1, "4711", 2
	})
	s.letter = stream.DeadLetter{Shard: shard, Position: stream.PositionOf(leaseLabel, "17"), Key: "PK=x", Reason: "error", Found: now}
	s.steps = append(s.steps, func(ctx context.Context, l *leases.Leases) error { return l.PutDeadLetter(ctx, leaseLabel, s.letter) })
	swapState(func(s *stream.State) { s.Complete, s.Since = true, now })
	swapState(func(s *stream.State) {
		s.Complete, s.Gap = false, &stream.Gap{Found: now, Shard: shard, Reason: "a test"}
	})
	swap(func(l *stream.Lease) { l.Owner, l.Ended = "", true })
	return s
}

// tell takes each step, and retries it while its error is temporary, as a Consumer does.
func (s *leaseStory) tell(t *testing.T, leases *leases.Leases) {
	t.Helper()
	for i, step := range s.steps {
		for try := 0; ; try++ {
			err := step(t.Context(), leases)
			if err == nil {
				break
			}
			if kind := comment.KindOf(err); try == 5 || kind != comment.Throttled && kind != comment.Unavailable && kind != comment.Timeout {
				t.Errorf("step %d: %v", i, err)
				break
			}
		}
	}
}

// check compares the table with what was written.
func (s *leaseStory) check(t *testing.T, leases *leases.Leases) {
	t.Helper()
	all := must.Get(leases.List(t.Context(), leaseLabel))(t)
	state := must.Get(leases.State(t.Context()))(t)
	deadLetters := must.Get(leases.DeadLetters(t.Context(), leaseLabel))(t)
	if diff := cmp.Diff([]stream.Lease{s.lease}, all) + cmp.Diff(s.state, state) + cmp.Diff([]stream.DeadLetter{s.letter}, deadLetters); diff != "" {
		t.Error(diff)
	}
}

// Whichever call is spoiled, everything is written once, and no write reports a conflict.
func TestLeasesUnderFaults(t *testing.T) {
	calls := len(newLeaseStory("s").steps)
	for _, fault := range faulttest.Kinds {
		for n := 1; n <= calls; n++ {
			t.Run(fmt.Sprint(fault, " ", n), func(t *testing.T) {
				t.Parallel()
				direct, table := newTable(t, dynamotest.Dynoxide(t))
				client, network := faulttest.Under(direct, faulttest.Nth(n, fault))
				story := newLeaseStory("s")
				story.tell(t, leases.NewLeases(client, table))
				if network.Calls() < n {
					t.Fatalf("%d calls", network.Calls())
				}
				story.check(t, leases.NewLeases(direct, table))
			})
		}
	}
}

// The later of two competing writes returns a Conflict and changes nothing.
func TestLeasesOfOthers(t *testing.T) {
	dynamotest.EachIf(t, commenttest.Torture(), func(t *testing.T, endpoint string) {
		client, table := newTable(t, endpoint)
		leases, story := leases.NewLeases(client, table), newLeaseStory("s")
		if upTo, known, err := leases.ProcessedUpTo(t.Context()); known || err != nil {
			t.Errorf("before anything was read: %s, %v, %v", upTo, known, err)
		}
		story.tell(t, leases)
		there := story.lease
		for _, row := range []struct {
			why string
			old stream.Lease
		}{
			{"it is not there", stream.Lease{}},
			{"another owner has it", stream.Lease{Shard: "s", Owner: "you", Counter: there.Counter}},
			{"it was renewed since", stream.Lease{Shard: "s", Owner: there.Owner, Counter: there.Counter - 1}},
		} {
			mine := stream.Lease{Shard: "s", Owner: "you", Counter: row.old.Counter + 1}
			if err := leases.Swap(t.Context(), leaseLabel, row.old, mine); comment.KindOf(err) != comment.Conflict {
				t.Errorf("%s: %v", row.why, err)
			}
		}
		for version := range story.state.Version {
			err := leases.SwapState(t.Context(), stream.State{Version: version}, stream.State{Label: "mine"})
			if comment.KindOf(err) != comment.Conflict {
				t.Errorf("a state of version %d: %v", version, err)
			}
		}
		story.check(t, leases)
	})
}

// A process that was killed keeps its leases until others take them. People are told at once that
// nobody reads its shards if its engine ended with it, and else after a minute.
func TestOwnersThatWereKilled(t *testing.T) {
	client, table := newTable(t, dynamotest.Dynoxide(t))
	l, lease := leases.NewLeases(client, table), stream.Lease{Shard: "s", Owner: "you", Engine: "run 1", Counter: 1}
	must.Do(t, l.Swap(t.Context(), leaseLabel, stream.Lease{}, lease))
	nobodys := lease
	nobodys.Owner = ""
	for _, row := range []struct {
		engine string // of the process that asks
		after  time.Duration
		want   stream.Lease
	}{
		{"run 1", 0, lease}, {"", 0, lease}, {"run 1", 50 * time.Second, lease}, {"run 1", -time.Hour, lease},
		{"run 2", 0, nobodys}, {"run 1", 2 * time.Minute, nobodys}, {"", 2 * time.Minute, nobodys},
	} {
		all := must.Get(l.ListAlive(t.Context(), leaseLabel, row.engine, time.Now().Add(row.after)))(t)
		if diff := cmp.Diff([]stream.Lease{row.want}, all); diff != "" {
			t.Errorf("asked from %q, %s later: %s", row.engine, row.after, diff)
		}
	}
}

// A state that was damaged by hand counts as never written, and is written anew. Otherwise a
// process that waits to change it would wait forever.
func TestDamagedState(t *testing.T) {
	client, table := newTable(t, dynamotest.Dynoxide(t))
	l := leases.NewLeases(client, table)
	for why, version := range map[string]types.AttributeValue{"no version": nil, "a version that is none": layout.Text("x"), "a flag": layout.Flag(true)} {
		damaged := layout.Key("STREAM", "STATE")
		if damaged["c"] = layout.Flag(true); version != nil {
			damaged["n"] = version
		}
		must.Get(client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: damaged}))(t)
		old := must.Get(l.State(t.Context()))(t)
		if err := l.SwapState(t.Context(), old, stream.State{Label: leaseLabel}); err != nil {
			t.Errorf("%s: %v", why, err)
		}
		if err := l.SwapState(t.Context(), old, stream.State{Label: "another"}); comment.KindOf(err) != comment.Conflict {
			t.Errorf("%s: written twice from the same state: %v", why, err)
		}
		if now, err := l.State(t.Context()); err != nil || now.Version != 1 || now.Label != leaseLabel {
			t.Errorf("%s: it is %+v, %v", why, now, err)
		}
	}
}

// Statistics are right up to the time that all leases have reached, and only while they are
// complete.
func TestWatermark(t *testing.T) {
	direct, table := newTable(t, dynamotest.Dynoxide(t))
	for _, row := range []struct {
		label              string
		complete           bool
		reached, scheduled time.Time
		wantKnown          bool
	}{
		{"complete", true, time.Unix(1000, 0).UTC(), time.Time{}, true},
		{"with a gap", false, time.Unix(1000, 0).UTC(), time.Time{}, false},
		{"at the beginning", true, time.Time{}, time.Time{}, false},
		{"left to a function", true, time.Unix(1000, 0).UTC(), time.Unix(2000, 0).UTC(), false},
	} {
		l := leases.NewLeases(direct, table)
		must.Do(t, l.Swap(t.Context(), row.label, stream.Lease{}, stream.Lease{Shard: "s", Counter: 1, CaughtUp: row.reached}))
		old := must.Get(l.State(t.Context()))(t)
		must.Do(t, l.SwapState(t.Context(), old, stream.State{Version: old.Version, Label: row.label, Complete: row.complete, Scheduled: row.scheduled}))
		if upTo, known, err := l.ProcessedUpTo(t.Context()); known != row.wantKnown || known && upTo != row.reached || err != nil {
			t.Errorf("%s: %s, %v, %v", row.label, upTo, known, err)
		}
	}
	broken, _ := faulttest.Under(direct, faulttest.From(1, faulttest.Throttled))
	if _, known, err := leases.NewLeases(broken, table).ProcessedUpTo(t.Context()); known || err == nil {
		t.Errorf("of a table that does not answer: %v, %v", known, err)
	}
}

// takeover is a table in which another process takes over the work after some writes.
type takeover struct {
	writes, after atomic.Int64
	last          atomic.Pointer[layout.Item]
}

func (c *takeover) PutItem(_ context.Context, input *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	if c.writes.Add(1) > c.after.Load() {
		return nil, &types.ConditionalCheckFailedException{}
	}
	item := layout.Item(input.Item)
	c.last.Store(&item)
	return &dynamodb.PutItemOutput{}, nil
}

func (*takeover) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

func (*takeover) DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return &dynamodb.DeleteItemOutput{}, nil
}

// Held work saves its progress with every heartbeat, so that no other process takes it over. A
// process that lost its work stops. A heartbeat after the end does not restore the item.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &takeover{}
		client.after.Store(11) // one write that acquires, and ten heartbeats
		work := leases.NewWork(leases.WorkOptions{
			Client: client, Table: "t", Key: layout.Key("WORK", "w"), Name: "a rebuild", Who: "test",
			Heartbeat: time.Second, Progress: func() layout.Item { return layout.Item{} },
		})
		must.Get(work.Acquire(t.Context()))(t)
		began := time.Now()
		err := work.Hold(t.Context(), time.Second, func(ctx context.Context) error {
			time.Sleep(9500 * time.Millisecond)
			if n := client.writes.Load(); n != 10 {
				t.Errorf("%d writes in 9.5 heartbeats, want one and nine", n)
			}
			if leases.HolderOf(*client.last.Load()).Interrupted {
				t.Error("work that is under way is interrupted")
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Minute):
				t.Error("the work goes on beside the process that took it over")
			}
			return ctx.Err()
		})
		if comment.KindOf(err) != comment.Conflict || time.Since(began) != 11*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		client.after.Store(1 << 40)
		must.Do(t, work.Finish(t.Context()))
		before := client.writes.Load()
		if err := work.Save(t.Context()); err != nil || client.writes.Load() != before {
			t.Errorf("a late heartbeat writes the item of work that is done: %v", err)
		}
		if leases.HolderOf(nil).Interrupted {
			t.Error("work that never began is interrupted")
		}
	})
}
