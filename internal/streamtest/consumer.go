package streamtest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/talkback/talkback/stream"
)

// LeasesAndJournal is what processes that read a stream share.
type LeasesAndJournal interface {
	stream.Leases
	stream.Journal
}

// Late is a consumer of a table whose stream publishes nothing yet.
func Late(client *dynamodb.Client, table string, leases LeasesAndJournal, handler stream.Handler) (*LateSource, *stream.Consumer) {
	late := &LateSource{Source: stream.NewSource(stream.NewClient(client), client, table)}
	late.Hold(true)
	return late, &stream.Consumer{
		Source: late, Leases: leases, Journal: leases, Handler: handler, Logger: slog.New(slog.DiscardHandler),
		Poll: 5 * time.Millisecond, Heartbeat: 20 * time.Millisecond,
	}
}

// Run starts a consumer and returns a function that ends it.
func Run(t *testing.T, consumer *stream.Consumer) (end func()) {
	running, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- consumer.Run(running) }()
	return func() { stop(); <-ended }
}

// Renewals is how often the lease of the only shard was written; 0 before it exists.
func Renewals(t *testing.T, leases LeasesAndJournal) int64 {
	t.Helper()
	state, err := leases.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	all, err := leases.List(t.Context(), state.Label)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return 0
	}
	return all[0].Counter
}
