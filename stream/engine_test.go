package stream_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/stream"
)

// seen is a handler that remembers what it was handed.
type seen struct {
	mu     sync.Mutex
	values map[string][]string // by key, in the order of handing over
	poison string
}

func (s *seen) Handle(_ context.Context, records []stream.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range records {
		if strings.HasPrefix(keyIn(r), "STREAM") {
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

// bench is a table of an engine.
type bench struct {
	t      *testing.T
	client *dynamodb.Client
	table  string
	leases *dynamo.Leases
}

func newBench(t *testing.T, endpoint string) *bench {
	t.Helper()
	b := &bench{t: t, client: dynamo.NewLocalClient(endpoint), table: dynamotest.TableName(t)}
	b.leases = dynamo.NewLeases(b.client, b.table)
	if err := dynamo.CreateTable(t.Context(), b.client, b.table); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *bench) consumer(h stream.Handler) *stream.Consumer {
	return &stream.Consumer{
		Source:  stream.NewSource(stream.NewClient(b.client), b.client, b.table),
		Leases:  b.leases,
		Journal: b.leases,
		Handler: h,
		Logger:  slog.New(slog.DiscardHandler),
		Poll:    20 * time.Millisecond, Beat: 100 * time.Millisecond, Expiry: time.Second, Discover: 200 * time.Millisecond,
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
		if err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *bench) drain(c *stream.Consumer) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 30*time.Second)
	defer cancel()
	if err := c.Drain(ctx, time.Now()); err != nil {
		leases, _ := b.leases.List(b.t.Context(), "")
		b.t.Fatal(err, c.Status(), leases)
	}
}

// wantAll checks that each item's values came in order, each at least once, and at most the last ones again.
func (s *seen) wantAll(t *testing.T, n int) {
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
		b, h := newBench(t, endpoint), &seen{values: map[string][]string{}}
		b.write(0, 20)
		c := b.consumer(h)
		stop := b.run(c)
		b.drain(c)
		h.wantAll(t, 20)
		b.write(20, 30)
		b.drain(c)
		stop()
		h.wantAll(t, 30)

		b.write(30, 40)
		again := &seen{values: map[string][]string{}}
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
