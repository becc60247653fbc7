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
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/internal/counting"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/stream"
)

// newCounting wires what counts the comments of a table, and feeds its page numbers. The name of the
// command is shown to other processes. The follower hears of the changes; nil for none.
func newCounting(session *Session, name string, pages *pages, follower counts.Follower, log *slog.Logger) *counting.Runner {
	shared := newLeases(session)
	traced := stream.Traced(session.outbox().After(pages.newCounter(session, follower)), session.tracer, session.writes, func(r stream.Record) string {
		return layout.NewReader(r.Keys).Text(layout.AttrPK)
	})
	consumer := &stream.Consumer{
		Source:  stream.NewSource(stream.NewClient(session.Client), session.Client, session.Table),
		Leases:  shared,
		Journal: shared,
		Handler: traced,
		Logger:  log,
		Engine:  session.run,
	}
	return counting.New(consumer, shared, countedTable{session, name, pages}, !session.AWS, log)
}

// watermarkOf reads up to when the statistics of a table are right.
func watermarkOf(session *Session) counting.Watermark {
	return counting.Watermark{Leases: newLeases(session)}
}

// countedTable is the table of a session. It implements counting.Table.
type countedTable struct {
	session *Session
	name    string // of the command
	pages   *pages
}

// HasComments implements counting.Table.
func (t countedTable) HasComments(ctx context.Context) (bool, error) {
	return dynamo.HasComments(ctx, t.session.Client, t.session.Table)
}

// DropExpired implements counting.Table.
func (t countedTable) DropExpired(ctx context.Context) error {
	return dynamo.KeepTimeToLive(ctx, t.session.Client, t.session.Table)
}

// NoteLayout implements counting.Table.
func (t countedTable) NoteLayout(ctx context.Context) error {
	return dynamo.NoteLayout(ctx, t.session.Client, t.session.Table)
}

// Rebuild implements counting.Table.
func (t countedTable) Rebuild(ctx context.Context) (counts.RebuildResult, error) {
	options := t.pages.rebuilding(t.session, t.name)
	return counts.NewRebuilder(call.For(t.session.Client, call.ForRebuild), t.session.Table, options).Run(ctx, func(counts.RebuildProgress) {})
}

// printBacklog prints what a command still waits for. A failed write is ignored: it is no reason to
// stop.
func printBacklog(out io.Writer, done string, b counting.Backlog) {
	text := "all comments of the table are being counted"
	if !b.Rebuilding {
		text = fmt.Sprintf("the last %s are still to be counted", lagText(b.Behind))
	}
	_, _ = fmt.Fprintln(out, output.ScreenOf(out).Fold(done+"; "+text+"."))
}

// lagText formats a lag: as 1.5 s below a minute, else in whole seconds.
func lagText(lag time.Duration) string {
	if lag < time.Minute {
		return fmt.Sprintf("%.1f s", lag.Seconds())
	}
	return lag.Round(time.Second).String()
}
