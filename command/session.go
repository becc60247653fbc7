package command

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/dynamo/outbox"
	"github.com/talkback/talkback/internal/engine"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/telemetry/spans"
)

// Session is a connection to an engine whose table is ready for use.
type Session struct {
	// Client calls the engine.
	Client *dynamodb.Client
	// Table is the name of the table.
	Table string
	// Address says where the table is, for people: an engine's URL, the local engine's folder, or
	// AWS. The port of the local engine is never shown.
	Address string
	// AWS says that the engine is DynamoDB itself, with its limits and prices.
	AWS bool

	clock  *call.Clock   // compares this machine's clock with the table's; nil until watchClock
	tracer *spans.Tracer // nil if no traces are sent
	writes *spans.Writes // likewise

	events *outbox.Outbox // nil until outbox

	local *engine.Engine // nil unless this process started it
	run   string         // names the run of a local engine, which ends with its process; empty for other engines
}

// region returns the region of AWS, empty for another engine.
func (s *Session) region() string {
	if !s.AWS {
		return ""
	}
	return s.Client.Options().Region
}

// watchClock logs when the clock of this machine differs from the table's by more than counting and
// cursors tolerate. Call it before anything uses the client.
func (s *Session) watchClock(log *slog.Logger) {
	s.clock = call.NewClock(func(ahead time.Duration, apart bool) {
		if apart {
			log.Warn("the clock of this machine differs from the table's: set it, by NTP for example", "ahead", ahead.Round(time.Second))
			return
		}
		log.Info("the clock of this machine agrees with the table's again")
	})
	s.Client = s.clock.Of(s.Client)
}

// Close stops an engine that this process started.
func (s *Session) Close() error {
	if s.local == nil {
		return nil
	}
	return s.local.Stop()
}

// watch runs the work, and cancels it when the engine ends. The error then says why the engine
// ended.
func (s *Session) watch(ctx context.Context, work func(context.Context) error) error {
	if s.local == nil {
		return work(ctx)
	}
	group, ctx := errgroup.WithContext(ctx)
	done := make(chan struct{})
	group.Go(func() error {
		defer close(done)
		return work(ctx)
	})
	group.Go(func() error {
		select {
		case <-done:
			return nil
		case <-s.local.Done():
			return s.local.Err()
		}
	})
	return group.Wait()
}

// processName returns a name of this process for people on other machines.
func processName(command string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown machine"
	}
	return fmt.Sprintf("%s (pid %d on %s)", command, os.Getpid(), host)
}

// newLeases makes the leases of the stream of a session's table.
func newLeases(session *Session) *leases.Leases {
	return leases.NewLeases(call.For(session.Client, call.ForLeases), session.Table)
}

// watchItems runs work like watch, and shows how many items of the table are done, of the estimated
// number. It returns how long the work took.
func (s *Session) watchItems(ctx context.Context, term Terminal, work func(ctx context.Context, show func(items int64)) error) (time.Duration, error) {
	about, _, err := dynamo.NewScanner(s.Client, s.Table, 0).Estimate(ctx)
	if err != nil {
		return 0, err
	}
	if about == 0 { // also from engines that do not count
		about = -1
	}
	progress := output.NewProgress(term.Err, about, "items")
	err = s.watch(ctx, func(ctx context.Context) error {
		return work(ctx, func(items int64) { progress.Show(int(items), items) })
	})
	return progress.End(), err
}
