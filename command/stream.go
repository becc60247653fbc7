package command

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/erasure"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/internal/task"
	"github.com/talkback/talkback/internal/webhooks"
	"github.com/talkback/talkback/stream"
)

// Stream counts comments in a process of its own.
type Stream struct {
	AdminFlags
	CreateFlags
	PagesFlag

	Status    bool          `help:"Print which processes read the stream and how far they are, and count nothing."`
	LeaseTime time.Duration `help:"Heartbeat timeout: how long after the death of this process others take over its shards (default: ${default})." placeholder:"${lease_time}" default:"${lease_time}"`
}

const (
	shortestLease = 100 * time.Millisecond // a process renews a lease several times in that time, each time with a write
	longestLease  = time.Hour
	// heartbeatsPerLease is how often a lease is renewed within its timeout. A long lease is renewed
	// more often, since other processes may have a shorter timeout.
	heartbeatsPerLease = 3
)

// Run counts, delivers to hooks and erases authors until the context ends, or prints the status.
func (c *Stream) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	if c.LeaseTime < shortestLease || c.LeaseTime > longestLease {
		return usagef("--lease-time %v is not a time until others count after this process died: give 100ms to 1h, such as 6s", c.LeaseTime)
	}
	target, err := c.PagesFlag.target()
	if err != nil {
		return err
	}
	if c.Status {
		return flags.withPages(ctx, target, "talkback stream", term, func(session *Session, pages *pages) error {
			now, err := readStatus(ctx, session, pages)
			if err != nil {
				return err
			}
			_, err = io.WriteString(term.Out, now.text(output.ScreenOf(term.Out)))
			return err
		})
	}
	defer outliveReaders()()
	defer func() { err = endedEarly(ctx, err, term) }()
	return flags.with(ctx, Opening{Owner: "talkback stream", Create: c.CreateTable}, term, func(session *Session) error {
		traces, err := startTraces(ctx, term)
		if err != nil {
			return err
		}
		ends := endings{traces.Stop}
		defer func() { ends.close() }()
		measured, err := c.measure(ctx, nil, term)
		if err != nil {
			return err
		}
		ends = append(ends, func() { measured.close(term.Logger) })
		session.observe(traces, measured, term.Logger)
		return session.withPages(ctx, target, term.Logger, func(pages *pages) error {
			return c.count(ctx, session, pages, measured, term)
		})
	})
}

func (c *Stream) count(ctx context.Context, session *Session, pages *pages, measured *measured, term Terminal) error {
	runner := newCounting(session, pages, nil, term.Logger)
	measured.ofCounting(runner)
	measured.ofPageIndex(pages)
	runner.Consumer.Expiry = c.LeaseTime
	runner.Consumer.Heartbeat = min(c.LeaseTime/heartbeatsPerLease, stream.DefaultHeartbeat)
	runner.Prepare(ctx)
	if term.LogsJSON {
		term.Logger.Info("talkback counts comments", "table", session.Table, "engine", session.Address)
	} else {
		fmt.Fprintf(term.Err, "Talkback counts comments.\n  table     %s at %s\nStop with Ctrl-C.\n", session.Table, session.Address)
	}
	return session.watch(ctx, func(ctx context.Context) error {
		return beside(ctx, session, pages, runner.Consumer, newEraser(session), measured, term.Logger, func(ctx context.Context) error {
			runner.Run(ctx)
			return nil
		})
	})
}

// beside feeds page numbers, delivers to hooks and erases authors while work runs, which counts. It
// returns the error of work.
func beside(ctx context.Context, session *Session, pages *pages, consumer *stream.Consumer, eraser *erasure.Eraser, measured *measured, log *slog.Logger, work func(context.Context) error) error {
	sender := newSender()
	deliverer := webhooks.NewDeliverer(measured.ofHooks(webhooks.Options{
		Store: hooksOf(session), Send: sender.Send, Ready: sender.Ready, Logger: log, Who: session.process(), Engine: session.run,
		Appends: func() bool { return len(consumer.Status()) > 0 },
	}))
	return pages.Beside(ctx, func(ctx context.Context) error {
		return task.Beside(ctx, deliverer.Run, func(ctx context.Context) error {
			return task.Beside(ctx, func(ctx context.Context) { eraser.Serve(ctx, log) }, work)
		})
	})
}

// newCounting makes the runner that counts the comments of a table and feeds its page numbers.
// The follower receives the changes; nil for none.
func newCounting(session *Session, pages *pages, follower counts.Follower, log *slog.Logger) *counts.Runner {
	shared := newLeases(session)
	traced := stream.Traced(session.outbox().After(pages.newCounter(session, follower).Handle), session.tracer, session.writes)
	consumer := &stream.Consumer{
		Source:  stream.NewSource(stream.NewClient(session.Client), session.Client, session.Table),
		Leases:  shared,
		Journal: shared,
		Handler: traced,
		Logger:  log,
		Engine:  session.run,
	}
	table := counts.RunnerTable{
		HasComments: func(ctx context.Context) (bool, error) { return dynamo.HasComments(ctx, session.Client, session.Table) },
		DropExpired: func(ctx context.Context) error { return dynamo.KeepTimeToLive(ctx, session.Client, session.Table) },
		NoteLayout:  func(ctx context.Context) error { return dynamo.NoteLayout(ctx, session.Client, session.Table) },
		Rebuild: func(ctx context.Context) (counts.RebuildResult, error) {
			return counts.NewRebuilder(call.For(session.Client, call.ForRebuild), session.Table, pages.rebuilding(session)).Run(ctx, func(counts.RebuildProgress) {})
		},
	}
	return counts.NewRunner(consumer, shared, table, !session.AWS, log)
}

// printBacklog prints what a command is waiting for. It ignores failed writes.
func printBacklog(out io.Writer, done string, b counts.Backlog) {
	text := "all comments of the table are being counted"
	if !b.Rebuilding {
		text = fmt.Sprintf("the last %s are still to be counted", lagText(b.Behind))
	}
	_ = printFolded(out, done+"; "+text+".\n")
}
