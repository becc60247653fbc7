package counts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/call"
	"github.com/talkback/talkback/pageindex/runs"
)

// runsReader reads the page index in the table.
type runsReader interface {
	// Runs returns a snapshot of all runs of a product's index in ascending order, the head last.
	// An error that wraps runs.ErrTorn means that parts of the index are missing, unreadable or
	// inconsistent.
	Runs(ctx context.Context, product string) ([]runs.Run, error)
}

// runsCheck compares the runs of a product with its markers. The nil runsCheck compares nothing.
type runsCheck struct {
	// damage is the error of an unreadable index, else nil.
	damage error
	runs   []runs.Run
	// marked has the sum of the markers in each run. at is the index of the last marker's run.
	marked []comment.Stats
	at     int
}

// checkRuns prepares the comparison for a product with an encoded head, which may be unreadable.
func checkRuns(ctx context.Context, from runsReader, product string, head []byte) (*runsCheck, error) {
	h, err := runs.DecodeHead(head)
	switch {
	case err != nil:
		return &runsCheck{damage: err}, nil
	case h.Last == h.First: // the index has only a head
		alone := runs.Run{From: h.Bound, End: comment.MaxPosition, Counts: h.Counts}
		return &runsCheck{runs: []runs.Run{alone}, marked: []comment.Stats{{}}}, nil
	}
	var c runsCheck
	c.runs, err = call.Retried(ctx, func() ([]runs.Run, error) { return from.Runs(ctx, product) })
	if errors.Is(err, runs.ErrTorn) {
		return &runsCheck{damage: err}, nil
	}
	for range c.runs {
		c.marked = append(c.marked, comment.Stats{})
	}
	return &c, err
}

// add notes a marker. Markers come in ascending order.
func (c *runsCheck) add(p comment.Position, cell comment.Cell) {
	if c == nil || len(c.runs) == 0 {
		return
	}
	for c.at < len(c.runs)-1 && p.Compare(c.runs[c.at].End) >= 0 {
		c.at++
	}
	c.marked[c.at].Add(cell, 1)
}

// wrong describes what is wrong with the index; empty if nothing is.
func (c *runsCheck) wrong() string {
	if c == nil {
		return ""
	}
	if c.damage != nil {
		return c.damage.Error()
	}
	end := comment.Position{}
	for i, run := range c.runs {
		if run.From != end {
			return fmt.Sprintf("a run begins at %s, but the run before it ends at %s", run.From, end)
		}
		end = run.End
		if !maps.Equal(run.Counts, c.marked[i]) {
			return fmt.Sprintf("from %s on: counted as %d, but the markers add up to %d",
				run.From, run.Counts.Total(), c.marked[i].Total())
		}
	}
	return ""
}

// unsplit reports whether a run below the head is too large to be read, so that a merge has to
// split it.
func (c *runsCheck) unsplit() bool {
	return c != nil && len(c.runs) > 0 && slices.ContainsFunc(c.runs[:len(c.runs)-1], func(run runs.Run) bool {
		return run.Counts.Total() > runs.MaxReadable
	})
}
