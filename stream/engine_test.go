package stream_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"go.uber.org/goleak"

	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// recorder is a handler that remembers its records.
type recorder struct {
	mu     sync.Mutex
	values map[string][]string // by key, in the order of handing over
	poison string
}

func (s *recorder) handle(_ context.Context, records []stream.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[string][]string{}
	}
	for _, r := range records {
		if strings.HasPrefix(keyIn(r), "STREAM") || keyIn(r) == "SETTINGS" {
			continue
		}
		value := r.New["v"].(*types.AttributeValueMemberS).Value
		if value == s.poison {
			panic(value)
		}
		s.values[r.Key()] = append(s.values[r.Key()], value)
	}
	return nil
}

func keyIn(r stream.Record) string { return r.Keys["PK"].(*types.AttributeValueMemberS).Value }

// bench is a table of an engine for one test.
type bench struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	leases *leases.Leases
}

func newBench(t *testing.T, endpoint string) *bench {
	t.Helper()
	b := &bench{t: t, client: call.NewLocalClient(endpoint), table: dynamotest.TableName(t)}
	b.leases = leases.NewLeases(b.client, b.table)
	dynamotest.CreateTable(t, b.client, layout.Definition(b.table))
	return b
}

func (b *bench) consumer(h *recorder) *stream.Consumer {
	return &stream.Consumer{
		Source:  stream.NewSource(stream.NewClient(b.client), b.client, b.table),
		Leases:  b.leases,
		Journal: b.leases,
		Handler: h.handle,
		Logger:  slog.New(slog.DiscardHandler),
		Poll:    20 * time.Millisecond, Heartbeat: 100 * time.Millisecond, Expiry: time.Second, Discover: 200 * time.Millisecond,
	}
}

// run runs a consumer until it is stopped.
func (b *bench) run(c *stream.Consumer) (stop func()) {
	ctx, cancel := context.WithCancel(b.t.Context())
	done := make(chan error)
	go func() { done <- c.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
}

func (b *bench) write(from, to int) {
	b.t.Helper()
	for i := from; i < to; i++ {
		_, err := b.client.PutItem(b.t.Context(), &dynamodb.PutItemInput{TableName: aws.String(b.table), Item: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: fmt.Sprint("item ", i%3)},
			"SK": &types.AttributeValueMemberS{Value: "x"},
			"v":  &types.AttributeValueMemberS{Value: fmt.Sprintf("%04d", i)},
		}})
		must.Do(b.t, err)
	}
}

func (b *bench) drain(c *stream.Consumer) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	if err := stream.Drain(ctx, c); err != nil {
		b.t.Fatal(err, c.Status(), b.list())
	}
}

// wantAll checks that each item's values came in order, each at least once. Only the last values
// may be repeated.
func (s *recorder) wantAll(t *testing.T, n int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	got := map[string]bool{}
	for _, values := range s.values {
		for _, value := range values {
			got[value] = true
		}
	}
	for i := range n {
		if value := fmt.Sprintf("%04d", i); !got[value] && value != s.poison {
			t.Errorf("%s was never handed over", value)
		}
	}
}

func TestStartAndRestart(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		b, h := newBench(t, endpoint), &recorder{}
		b.write(0, 20)
		c := b.consumer(h)
		stop := b.run(c)
		b.drain(c)
		state, all, err := b.leases.Current(t.Context())
		if _, known := stream.ProcessedUpTo(all); err != nil || !known || state.Label == "" {
			t.Errorf("the watermark is known: %v, and the state %+v, %v", known, state, err)
		}
		h.wantAll(t, 20)
		b.write(20, 30)
		b.drain(c)
		stop()
		h.wantAll(t, 30)
		if status := c.Status(); len(status) > 0 {
			t.Errorf("it has stopped, and still reads %v", status)
		}

		b.write(30, 40)
		again := &recorder{}
		c = b.consumer(again)
		stop = b.run(c)
		b.drain(c)
		stop()
		for _, values := range again.values {
			if values[0] < "0030" {
				t.Errorf("handed over again after a graceful stop: %v", values)
			}
		}
		if len(again.values) != 3 {
			t.Errorf("%d items after the restart, want 3", len(again.values))
		}
	})
}

func (b *bench) list() []stream.Lease {
	b.t.Helper()
	state, err := b.leases.State(b.t.Context())
	if err != nil || state.Label == "" {
		b.t.Fatal(state, err)
	}
	leases, err := b.leases.List(b.t.Context(), state.Label)
	if err != nil || len(leases) == 0 {
		b.t.Fatal(leases, err)
	}
	return leases
}

// A record that cannot be processed is dead-lettered, and all others are processed.
func TestPoison(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		b, h := newBench(t, endpoint), &recorder{poison: "0007"}
		c := b.consumer(h)
		b.write(0, 20)
		stop := b.run(c)
		b.drain(c)
		stop()
		h.wantAll(t, 20)
		state := must.Get(b.leases.State(t.Context()))(t)
		if state.Complete || state.Gap == nil {
			t.Errorf("the state does not say that counts may be wrong: %+v", state)
		}
		deadLetters, err := b.leases.DeadLetters(t.Context(), state.Label)
		if err != nil || len(deadLetters) != 1 || deadLetters[0].Key != "PK=item 1 SK=x" || strings.Contains(deadLetters[0].Reason, "0007") {
			t.Errorf("%+v, %v", deadLetters, err)
		}
		counted := 0
		for _, lease := range b.list() {
			counted += lease.DeadLetters
		}
		if counted != 1 {
			t.Errorf("the leases count %d", counted)
		}
	})
}

// Over a bad network, which spoils calls to the table and to the stream alike, everything is still
// processed.
func TestBadNetwork(t *testing.T) {
	b, h := newBench(t, dynamotest.Dynoxide(t)), &recorder{}
	b.write(0, 50)
	r, direct := commenttest.Rand(t), b.client
	var network *faulttest.Network
	b.client, network = faulttest.Under(direct, faulttest.OneIn(r, 5))
	b.leases = leases.NewLeases(b.client, b.table)
	first, second := b.consumer(h), b.consumer(h)
	stopFirst, stopSecond := b.run(first), b.run(second)
	b.client = direct
	b.drain(first)
	stopFirst()
	written := 50
	for written == 50 || network.Calls() < 50 { // until enough calls were spoiled
		b.write(written, written+10)
		written += 10
		b.drain(second)
	}
	stopSecond()
	h.wantAll(t, written)
}

// A shard whose checkpoint was damaged by hand is read on, from its oldest record.
func TestDamagedCheckpoint(t *testing.T) {
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		b, h := newBench(t, endpoint), &recorder{}
		c := b.consumer(h)
		for n := range 2 {
			b.write(5*n, 5*n+5)
			stop := b.run(c)
			b.drain(c)
			stop()
			for _, lease := range b.list() {
				damaged := lease
				damaged.Counter, damaged.Checkpoint = lease.Counter+1, "x"
				must.Do(t, b.leases.Swap(t.Context(), must.Get(b.leases.State(t.Context()))(t).Label, lease, damaged))
			}
		}
		h.wantAll(t, 10)
	})
}

func TestMain(m *testing.M) {
	status := dynamotest.Run(m)
	if err := goleak.Find(); status == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		status = 1
	}
	os.Exit(status)
}
