package command_test

import (
	"context"
	"log/slog"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
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

// checkOneList compares a random list of the product, page by page, with the model.
func (s *scribe) checkOneList() {
	s.tb.Helper()
	l := s.question()
	s.walk(l, s.random.IntN(2) == 0, s.model.List(l.product, mustNormalize(s.tb, l.filter), l.order))
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

// After any mutation, every query for comments has the same answer as the model, and once all are
// counted, so has every query for counts. Consumers come and go in between.
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
				s.checkOneList()
			}
			a.drained(time.Now())
			s.checkLeaders(s.model, "", 20)
			for range 3 {
				s.product = products[s.random.IntN(len(products))]
				s.checkOneList()
			}
		}
		s.checkCounted()
		there := 0
		for _, product := range products {
			there += len(everything(t, a.session.Client, a.session.Table, product))
		}
		if there != len(s.model.All()) {
			t.Errorf("%d comments are there, want %d", there, len(s.model.All()))
		}
	})
}
