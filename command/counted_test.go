package command_test

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
	"github.com/talkback/talkback/internal/faulttest"
	"github.com/talkback/talkback/stream"
)

// products are the products that writes are spread over.
var products = []string{"globe", "a/b#c", "ü"}

// newScribe returns a scribe with its own model.
func newScribe(a *api) *scribe {
	a.tb.Helper()
	return &scribe{api: a, random: commenttest.Rand(a.tb), model: commenttest.NewModel()}
}

// writeAnywhere makes a random mutation of a comment on any product.
func (s *scribe) writeAnywhere() {
	s.tb.Helper()
	s.product = products[s.random.IntN(len(products))]
	s.write()
}

// checkCounted compares all counts of the API with the model.
func (s *scribe) checkCounted() {
	s.tb.Helper()
	languages := map[comment.Language]int{"": 0}
	for _, product := range products {
		s.checkStats(s.random, s.model, product)
		for language := range s.model.Stats(product) {
			languages[language]++
		}
	}
	for language := range languages {
		s.checkLeaders(s.model, language, 20)
	}
}

// consume counts in this process, over a client, until it is stopped.
func (a *api) consume(client *dynamodb.Client) (stop func()) {
	return a.consumeBy(client, counts.CounterOptions{})
}

// consumeBy is consume with options.
func (a *api) consumeBy(client *dynamodb.Client, options counts.CounterOptions) (stop func()) {
	return a.consumeWith(client, counts.NewCounter(client, a.session.Table, options).Handle)
}

// consumeWith passes the records of the stream to a handler, over a client, until it is stopped.
func (a *api) consumeWith(client *dynamodb.Client, handler stream.Handler) (stop func()) {
	leases := leases.NewLeases(client, a.session.Table)
	consumer := &stream.Consumer{
		Source: stream.NewSource(stream.NewClient(client), client, a.session.Table),
		Leases: leases, Journal: leases, Handler: handler, Logger: slog.New(slog.DiscardHandler),
		Poll: 5 * time.Millisecond, Heartbeat: 20 * time.Millisecond, Expiry: 100 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := consumer.Run(ctx); err != nil {
			a.tb.Error(err)
		}
	})
	return sync.OnceFunc(func() { cancel(); running.Wait() })
}

// timesOn is commenttest.Times with a smaller number for DynamoDB Local, which takes several times
// as long as Dynoxide. The test is a subtest of dynamotest.Each.
func timesOn(t *testing.T, dynoxide, local, torture int) int {
	if path.Base(t.Name()) == "DynamoDBLocal" {
		return commenttest.Times(local, torture)
	}
	return commenttest.Times(dynoxide, torture)
}

// After any mutations, once they are counted, the API answers about a product as the model does.
// Consumers come and go in between.
func TestRandomWritesAreCounted(t *testing.T) {
	t.Parallel()
	dynamotest.Each(t, func(t *testing.T, endpoint string) {
		a := newAPI(t, endpoint)
		a.watermark = leases.NewLeases(a.session.Client, a.session.Table)
		a.useClient(a.session.Client)
		s := newScribe(a)
		stop := a.consume(a.session.Client)
		defer func() { stop() }()
		for range timesOn(t, 3, 1, 20) {
			for range 15 {
				s.writeAnywhere()
				if s.random.IntN(8) == 0 {
					stop()
					stop = a.consume(a.session.Client)
				}
			}
			a.drained(time.Now())
			s.checkLeaders(s.model, "", 20)
			for range 3 {
				s.product = products[s.random.IntN(len(products))]
				l := s.question()
				a.walk(l, false, s.model.List(l.product, mustNormalize(t, l.filter), l.order))
			}
		}
		s.checkCounted()
	})
}

// Whatever happens to any one call of a consumer, to the table or to the stream, its counts are
// exact. Half of the consumers find the leases as their owner left them, half as a killed process
// did.
func TestCountingThroughEveryFault(t *testing.T) {
	t.Parallel()
	endpoint := dynamotest.Dynoxide(t) // the engine does not matter for faults on the way
	for _, fault := range faulttest.Kinds {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			a := newAPI(t, endpoint)
			s := newScribe(a)
			for n := commenttest.Stride(s.random, 4); n <= callsOfConsumer; n += commenttest.Stride(s.random, 4) {
				s.countThroughFault(n, fault)
			}
		})
	}
}

// callsOfConsumer is about how many calls a consumer makes to count the writes of this test and
// give back its lease.
const callsOfConsumer = 24

// countThroughFault has a fresh consumer count what was written, with one fault.
func (s *scribe) countThroughFault(n int, fault faulttest.Fault) {
	s.tb.Helper()
	for _, product := range products {
		c := commenttest.Random(s.random, product)
		s.model.Insert(c)
		s.load(c)
	}
	there := s.model.All()
	gone := there[s.random.IntN(len(there))]
	s.model.Delete(gone.ID)
	s.delete(gone.ID)

	if s.random.IntN(2) == 0 {
		s.orphan()
	}
	client, network := faulttest.Under(s.session.Client, faulttest.Nth(n, fault))
	stop := s.consume(client)
	s.drained(time.Now())
	must.Wait(s.tb, "the consumer calls", func() bool { return network.Calls() >= n })
	stop()
	if err := network.Flush(); err != nil {
		s.tb.Error(err)
	}
	store := dynamo.NewStore(s.session.Client, s.session.Table, dynamo.Options{})
	found, _, err := store.StatsOf(context.Background(), products)
	for _, product := range products {
		check.Equal(s.tb, s.model.Stats(product), found[product].Clone(), fmt.Sprintf("call %d: %s: %v", n, product, err))
	}
	leaders, err := store.Leaders(context.Background(), "", 20)
	check.Equal(s.tb, s.model.Leaders("", 20), leaders, fmt.Sprintf("call %d: leaderboard: %v", n, err))
}

// orphan gives all leases to a process that does not renew them. Others take them over once they
// expire.
func (s *scribe) orphan() {
	s.tb.Helper()
	kept := leases.NewLeases(s.session.Client, s.session.Table)
	state, there, err := kept.Current(context.Background())
	must.Do(s.tb, err)
	for _, lease := range there {
		dead := lease
		dead.Owner, dead.Counter = "a killed process", lease.Counter+1
		must.Do(s.tb, kept.Swap(context.Background(), state.Label, lease, dead))
	}
}
