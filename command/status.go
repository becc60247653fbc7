package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/dynamo/leases"
	"github.com/talkback/talkback/internal/output"
	"github.com/talkback/talkback/pageindex/keeper"
	"github.com/talkback/talkback/stream"
)

// status is the progress of counting a table's comments, and the processes that count.
type status struct {
	now         time.Time
	state       stream.State
	leases      []stream.Lease
	deadLetters []stream.DeadLetter
	rebuild     counts.RebuildStatus
	pages       []keeper.Status
}

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
	if s.leases, err = leases.ListAlive(ctx, s.state.Label, session.run, s.now); err != nil {
		return s, err
	}
	s.deadLetters, err = leases.DeadLetters(ctx, s.state.Label)
	return s, err
}

func (s status) text(screen output.Screen) string {
	var head, dead strings.Builder
	found, cure := s.headline()
	word, mark := found[:strings.IndexAny(found, ":;")], screen.Good
	if cure != "" {
		mark, cure = screen.Notice, "; "+cure
	}
	fmt.Fprintf(&head, "%s%s%s\n", mark(word), found[len(word):], cure)
	if line := s.rebuildLine(); line != "" {
		fmt.Fprintf(&head, "%s\n", line)
	}
	for _, store := range s.pages {
		fmt.Fprintf(&head, "%s\n", s.pagesLine(store))
	}
	shards := ""
	if len(s.leases) > 0 {
		table := output.NewTable("SHARD", "READ BY", "BEHIND", "POSITION", "DEAD-LETTERED")
		for _, lease := range slices.SortedFunc(slices.Values(s.leases), func(a, b stream.Lease) int { return cmp.Compare(a.Shard, b.Shard) }) {
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
				deadLetters = screen.Notice(deadLetters)
			}
			table.Row(output.Printable(lease.Shard), output.Printable(owner), behind, output.Printable(cmp.Or(lease.Checkpoint, "its beginning")), deadLetters)
		}
		shards = "\n" + table.On(screen)
	}
	if len(s.deadLetters) > 0 {
		then := "not counted; talkback verify lists the drift, talkback rebuild repairs it"
		if s.state.Complete { // a dead letter leaves a gap, which a rebuild has closed
			then = "everything was counted again since; listed for 30 days. talkback verify lists items that are still invalid"
		}
		fmt.Fprintf(&dead, "\n%s, and %s:\n", screen.Notice("Dead-lettered"), then)
		for _, a := range s.deadLetters {
			fmt.Fprintf(&dead, "  %s  %s: %s\n", a.Found.Format(time.RFC3339), output.Printable(a.Key), output.Printable(a.Reason))
		}
	}
	return screen.Fold(head.String()) + shards + screen.Fold(dead.String())
}

// headline says whether the statistics are right, then how late they are, and what repairs them;
// empty if nothing has to.
func (s status) headline() (found, cure string) {
	upTo, known := s.state.ProcessedUpTo(s.leases)
	switch {
	case s.state.Gap != nil:
		return fmt.Sprintf("Gap: since %s the statistics may be wrong (%s)", s.state.Gap.Found.Format(time.RFC3339), output.Printable(s.state.Gap.Reason)),
			"talkback serve, talkback stream and talkback rebuild count everything again"
	case !s.state.Complete:
		return "Incomplete: all comments are still to be counted", "talkback serve, talkback stream and talkback rebuild do so"
	case !known && !s.state.Scheduled.IsZero():
		return fmt.Sprintf("Complete: AWS Lambda processed an item of its schedule %s ago", lagText(s.now.Sub(s.state.Scheduled))), ""
	case s.state.Label == "":
		return "Complete: all comments were counted; the stream has not been read since", ""
	case !known:
		return "Complete; how far the statistics are behind is not known yet", ""
	case s.ahead():
		return "Complete; how far the statistics are behind is not known, since a process that counts has a clock ahead of this one", ""
	}
	return fmt.Sprintf("Complete: the statistics are %s behind the comments", lagText(max(0, s.now.Sub(upTo)))), ""
}

// clocksApart is how far the clocks of processes may differ: docs/design/watermarks.md.
const clocksApart = 2 * time.Second

// ahead reports whether a counting process's clock is too far ahead to compute the lag.
func (s status) ahead() bool {
	upTo, known := s.state.ProcessedUpTo(s.leases)
	return known && upTo.Sub(s.now) > clocksApart
}

// rebuildLine describes a rebuild that is under way or was interrupted, "" for none.
func (s status) rebuildLine() string {
	switch r := s.rebuild; {
	case r.Who == "":
		return ""
	case r.Interrupted:
		return fmt.Sprintf("A rebuild by %s was interrupted after %s; talkback rebuild continues it", output.Printable(r.Who), output.Count(r.Items, "item", "items"))
	default:
		return fmt.Sprintf("A rebuild is under way, by %s: %s so far", output.Printable(r.Who), output.Count(r.Items, "item", "items"))
	}
}

func (s status) pagesLine(store keeper.Status) string {
	name := "Page numbers in " + output.Printable(store.Name)
	switch {
	case store.Away != nil:
		return fmt.Sprintf("%s: the store does not answer (%s)", name, output.Printable(store.Away.Error()))
	case store.Work.Owner != "":
		return fmt.Sprintf("%s: being built by %s, %s so far; if that number stays, the log of that process says why, and if it was killed, talkback rebuild --pages builds it", name, output.Printable(store.Work.Who), output.Count(store.Work.Entries, "comment", "comments"))
	case store.Complete && store.InUse:
		return name + ": complete, as far as the table knows; the process that uses the store asks it"
	case store.Complete && !store.Asked:
		return name + ": complete, as far as the table knows; with --pages, the store is asked"
	case store.Complete:
		return name + ": complete"
	}
	cure := "talkback serve, talkback stream and talkback rebuild --pages build it"
	if !store.Asked { // with another --pages, none of them does
		cure = "with this store as --pages, " + cure + "; if you left it, it needs nothing and is listed for 90 days"
	}
	since, reason := "", ""
	if !store.Since.IsZero() {
		since = " since " + store.Since.Format(time.RFC3339)
	}
	if store.Reason != "" {
		reason = " (" + output.Printable(store.Reason) + ")"
	}
	return fmt.Sprintf("%s: not complete%s%s; %s", name, since, reason, cure)
}
