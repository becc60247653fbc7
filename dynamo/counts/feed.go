package counts

import (
	"context"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// feed is an index of ranks outside the table, which a Counter or a Rebuilder keeps up to date.
type feed interface {
	// Apply brings entries in, however often and in whatever order they come. No record of the
	// stream is at fault if it fails, so any error may pass.
	Apply(ctx context.Context, entries []pageindex.Entry) error
}

// entriesOf returns the entries of the changes that could be counted.
func entriesOf(changes []Change, failed stream.RecordErrors) []pageindex.Entry {
	entries := make([]pageindex.Entry, 0, len(changes))
	for _, change := range changes {
		if failed[change.record] == nil {
			entries = append(entries, pageindex.Entry{
				Product: change.Product, Position: change.ID.Position(), Cell: change.After, Follows: change.Position,
			})
		}
	}
	return entries
}

// apply hands entries to a feed, unless that is nil. Its error is of a kind that may pass.
func apply(ctx context.Context, to feed, entries []pageindex.Entry) error {
	if to == nil || len(entries) == 0 {
		return nil
	}
	err := to.Apply(ctx, entries)
	if err != nil && comment.KindOf(err) == comment.Internal {
		return &comment.Error{Kind: comment.Unavailable, Message: "the index behind page numbers cannot be kept up to date; ask again in a moment", Cause: err}
	}
	return err
}

// Positions of entries that follow a look at a comment rather than a record. The look is later than
// the marker's last record, and earlier than the next. Positions of records begin with a digit.
const (
	beforeRecords = "!" // sorts before all records
	afterRecord   = "~" // sorts between a record and the next
)

// entryPosition returns the position of an entry that follows a look at the comment of a marker.
func (m marker) entryPosition() stream.Position {
	if m.position == "" {
		return beforeRecords
	}
	return m.position + afterRecord
}
