package runs

import (
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// Sizes of runs, in comments.
const (
	// runSize is how many comments a new run has.
	runSize = 64
	// firstSize is how many comments a product has when its first run is made. Reading all comments
	// of a smaller product costs as little.
	firstSize = 256
	// splitAbove is the size above which a merge splits a run.
	splitAbove = 2 * runSize
	// joinBelow is the size below which a merge joins a run with a neighbour.
	joinBelow = runSize / 4
)

// mergeBytes is the size of the log at which it is merged, entryOverhead the part of that for the
// key of an entry.
const (
	mergeBytes    = 4 << 10
	entryOverhead = 48
)

// firstNumberShift leaves room for 65,536 entries per millisecond between two indexes.
const firstNumberShift = 16

// Start returns the head of a product that has no index yet, which counts all comments. Counts must
// have a separate row for each language. Highest is the position of the newest comment or one
// above; it is ignored if there are no comments. The time must be later than that of an earlier
// index of the product.
func Start(counts comment.Stats, highest comment.Position, now time.Time) Head {
	first := uint64(now.UnixMilli()) << firstNumberShift
	h := Head{Counts: counts.Clone(), First: first, Last: first}
	if len(counts) > 0 {
		h.Highest = highest
	}
	return h
}

// sealed reports whether there are runs.
func (h Head) sealed() bool { return h.Bound != comment.Position{} }

// Apply returns the head after changes of different comments, and the entry to write in the same
// transaction, nil for none. The head must exist, and must be the one in the table when the
// transaction commits.
//
// Apply returns the zero Head if the changes contradict the counts, which only damage to the table
// can cause. The product then has no index until one is started.
func (h Head) Apply(changes []Change) (next Head, entry *Entry) {
	next = h
	next.Counts = h.Counts.Clone()
	e := Entry{Number: h.Last + 1}
	for _, c := range slices.SortedFunc(slices.Values(changes), func(a, b Change) int { return a.Position.Compare(b.Position) }) {
		if c.Position.Compare(h.Bound) < 0 {
			e.Changes = append(e.Changes, c)
			continue
		}
		addChange(next.Counts, c)
		if c.To != nil && c.Position.Compare(next.Highest) > 0 {
			next.Highest = c.Position
		}
	}
	if negative(next.Counts) {
		return Head{}, nil
	}
	limit := runSize // below it, the head does not become a run
	if !next.sealed() {
		limit = firstSize
	}
	if next.Counts.Total() >= limit && next.Highest != comment.MaxPosition { // no bound can be above that
		e.Sealed = &Run{From: next.Bound, End: shortAbove(next.Highest), Counts: next.Counts}
		next.Bound, next.Counts = e.Sealed.End, comment.Stats{}
	}
	if len(e.Changes) == 0 && e.Sealed == nil {
		return next, nil
	}
	next.Last = e.Number
	next.Written += uint64(len(e.Encode()) + entryOverhead)
	return next, &e
}

func addChange(counts comment.Stats, c Change) {
	if c.To != nil {
		counts.Add(*c.To, 1)
	}
	if c.From != nil {
		counts.Add(*c.From, -1)
	}
}

// MergeDue reports whether the log should be merged after a transaction, given the head before it.
// It is due if the log has grown by another 4 KB, or if the first run was sealed, which has to be
// split.
func (h Head) MergeDue(before Head) bool {
	grown := h.Written/mergeBytes > before.Written/mergeBytes
	return grown || h.sealed() && !before.sealed()
}
