package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/counting"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
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

// shortestLease is the shortest --lease-time. A lease is renewed several times in that time, each
// with a write.
const shortestLease = 100 * time.Millisecond

// heartbeatsPerLease is how often a lease is renewed in its time. Longer leases are renewed as often
// as those of other processes, which may take over sooner.
const heartbeatsPerLease = 3

// Run counts until the context ends, or prints the status.
func (c *Stream) Run(ctx context.Context, flags *EngineFlags, term Terminal) (err error) {
	if c.LeaseTime < shortestLease {
		return usagef("--lease-time %v is too short: give %v or more", c.LeaseTime, shortestLease)
	}
	if !c.Status {
		defer func() { err = endedEarly(ctx, err, term) }()
	}
	target, err := c.PagesFlag.target()
	if err != nil {
		return err
	}
	session, err := flags.Open(ctx, Opening{Owner: "talkback stream", Create: c.CreateTable && !c.Status}, term)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	traces, err := startTraces(ctx, term)
	if err != nil {
		return err
	}
	defer traces.Stop()
	session.watchClock(term.Logger)
	session.trace(traces)
	var measured *measured
	if !c.Status {
		if measured, err = c.measure(ctx, nil, term); err != nil {
			return err
		}
		defer measured.close(term.Logger)
		measured.ofCalls(session)
	}
	pages, err := openPages(ctx, target, session, "talkback stream", term.Logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pages.Close()) }()
	if c.Status {
		now, err := readStatus(ctx, session, pages)
		if err != nil {
			return err
		}
		_, err = io.WriteString(term.Out, now.text(output.ScreenOf(term.Out)))
		return err
	}
	return c.count(ctx, session, pages, measured, term)
}

// count counts until the context ends.
func (c *Stream) count(ctx context.Context, session *Session, pages *pages, measured *measured, term Terminal) error {
	runner := newCounting(session, "talkback stream", pages, nil, term.Logger)
	measured.ofCounting(runner)
	measured.ofPageIndex(pages)
	runner.Consumer.Expiry = c.LeaseTime
	runner.Consumer.Heartbeat = min(c.LeaseTime/heartbeatsPerLease, stream.DefaultHeartbeat)
	runner.Prepare(ctx)
	announceCounting(session, term)
	return session.watch(ctx, func(ctx context.Context) error {
		return pages.Beside(ctx, func(ctx context.Context) error {
			return hooksBeside(ctx, session, "talkback stream", measured, term.Logger, func(ctx context.Context) error {
				runner.Run(ctx)
				return nil
			})
		})
	})
}

// announceCounting prints, or logs, what is being counted.
func announceCounting(session *Session, term Terminal) {
	if term.LogsJSON {
		term.Logger.Info("talkback counts comments", "table", session.Table, "engine", session.Address)
		return
	}
	fmt.Fprintf(term.Err, "Talkback counts comments.\n  table     %s at %s\nStop with Ctrl-C.\n", session.Table, session.Address)
}

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

// status says who counts the comments of a table, and how far that is.
type status struct {
	now         time.Time
	state       stream.State
	leases      []stream.Lease
	deadLetters []stream.DeadLetter
	rebuild     counts.RebuildStatus
	pages       []keeper.Status
}

// readStatus reads the status from the table.
func readStatus(ctx context.Context, session *Session, pages *pages) (status, error) {
	leases := leases.NewLeases(session.Client, session.Table)
	s := status{now: time.Now()}
	var err error
	if s.state, err = leases.State(ctx); err != nil {
		return s, err
	}
	if s.pages, err = pages.status(ctx, s.state); err != nil {
		return s, err
	}
	if s.rebuild, err = counts.CurrentRebuild(ctx, session.Client, session.Table); err != nil || s.state.Label == "" {
		return s, err
	}
	if s.leases, err = leases.List(ctx, s.state.Label); err != nil {
		return s, err
	}
	s.deadLetters, err = leases.DeadLetters(ctx, s.state.Label)
	return s, err
}

// text formats the status for a screen.
func (s status) text(screen output.Screen) string {
	var head, dead strings.Builder
	fmt.Fprintf(&head, "%s\n", headlineStyled(s.headline(), screen.Style))
	if line := s.rebuildLine(); line != "" {
		fmt.Fprintf(&head, "%s\n", line)
	}
	for _, store := range s.pages {
		fmt.Fprintf(&head, "%s\n", s.pagesLine(store))
	}
	table := ""
	if len(s.leases) > 0 {
		table = "\n" + s.table(screen.Style).On(screen)
	}
	if len(s.deadLetters) > 0 {
		fmt.Fprintf(&dead, "\n%s, and not counted; talkback verify lists the drift, talkback rebuild repairs it:\n", screen.Notice("Dead-lettered"))
		for _, a := range s.deadLetters {
			fmt.Fprintf(&dead, "  %s  %s: %s\n", a.Found.Format(time.RFC3339), output.Printable(a.Key), output.Printable(a.Reason))
		}
	}
	return screen.Fold(head.String()) + table + screen.Fold(dead.String())
}

// headlineStyled marks the word of a headline that says whether the statistics are right.
func headlineStyled(headline string, style output.Style) string {
	word := headline[:strings.IndexAny(headline+":", ":;")]
	if word == "Complete" {
		return style.Good(word) + headline[len(word):]
	}
	return style.Notice(word) + headline[len(word):]
}

// headline says whether the statistics are right.
func (s status) headline() string {
	upTo, known := stream.ProcessedUpTo(s.leases)
	switch {
	case s.state.Gap != nil:
		return fmt.Sprintf("Gap: since %s the statistics may be wrong (%s); talkback serve, talkback stream and talkback rebuild count everything again",
			s.state.Gap.Found.Format(time.RFC3339), output.Printable(s.state.Gap.Reason))
	case !s.state.Complete:
		return "Incomplete: all comments are still to be counted; talkback serve, talkback stream and talkback rebuild do so"
	case s.state.Label == "" && !s.state.Scheduled.IsZero():
		return fmt.Sprintf("Complete: AWS Lambda processed an item of its schedule %s ago", lagText(s.now.Sub(s.state.Scheduled)))
	case s.state.Label == "":
		return "Complete: all comments were counted; the stream has not been read since"
	case !known:
		return "Complete; how far the statistics are behind is not known yet"
	}
	return fmt.Sprintf("Complete: the statistics are %s behind the comments", lagText(s.now.Sub(upTo)))
}

// rebuildLine describes a rebuild that is under way or was interrupted, "" if there is none.
func (s status) rebuildLine() string {
	switch r := s.rebuild; {
	case r.Who == "":
		return ""
	case r.Interrupted:
		return output.English.Sprintf("A rebuild by %s was interrupted after %d items; talkback rebuild continues it", output.Printable(r.Who), r.Items)
	default:
		return output.English.Sprintf("A rebuild is under way, by %s: %d items so far", output.Printable(r.Who), r.Items)
	}
}

// pagesLine says how far a store of page numbers is.
func (s status) pagesLine(store keeper.Status) string {
	name := "Page numbers in " + output.Printable(store.Name)
	switch {
	case store.Work.Owner != "":
		return output.English.Sprintf("%s: being built by %s, %d comments so far", name, output.Printable(store.Work.Who), store.Work.Entries)
	case store.Away != nil:
		return fmt.Sprintf("%s: the store does not answer (%s)", name, output.Printable(store.Away.Error()))
	case store.Complete && !store.Asked:
		return name + ": complete, as far as the table knows; with --pages, the store is asked"
	case store.Complete:
		return name + ": complete"
	}
	cure := "talkback serve, talkback stream and talkback rebuild --pages build it"
	since, reason := "", ""
	if !store.Since.IsZero() {
		since = " since " + store.Since.Format(time.RFC3339)
	}
	if store.Reason != "" {
		reason = " (" + output.Printable(store.Reason) + ")"
	}
	return fmt.Sprintf("%s: not complete%s%s; %s", name, since, reason, cure)
}

// table has a row for each shard.
func (s status) table(style output.Style) *output.Table {
	table := output.NewTable("SHARD", "READ BY", "BEHIND", "POSITION", "DEAD-LETTERED")
	leases := slices.Clone(s.leases)
	slices.SortFunc(leases, func(a, b stream.Lease) int { return cmp.Compare(a.Shard, b.Shard) })
	for _, lease := range leases {
		behind := "unknown"
		if lag, known := lease.Lag(s.now); known {
			behind = lagText(lag)
		}
		owner := cmp.Or(lease.Owner, "none")
		if lease.Ended {
			owner, behind = "read to its end", ""
		}
		deadLetters := strconv.Itoa(lease.DeadLetters)
		if lease.DeadLetters > 0 {
			deadLetters = style.Notice(deadLetters)
		}
		table.Row(output.Printable(lease.Shard), output.Printable(owner), behind, output.Printable(cmp.Or(lease.Checkpoint, "its beginning")), deadLetters)
	}
	return table
}
