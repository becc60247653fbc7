package counts

import (
	"cmp"
	"fmt"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Change is a change of one comment, decoded from a record of the stream.
type Change struct {
	// Product is the id of the comment's product, and ID that of the comment.
	Product string
	ID      comment.ID
	// Before is the comment's cell before the change; nil if it was in no list or cannot be read.
	// After is its cell after the change; nil if it left the lists, because it was deleted or is no
	// longer approved.
	Before, After *comment.Cell
	// Version is the comment's version after the change; 0 if it is in no list or has none.
	Version int
	// Position orders the changes of a comment.
	Position stream.Position
	// Created is when the change was made, to the second, by DynamoDB's clock.
	Created time.Time

	// record is the index of its record in the call of Handle.
	record int
}

// decodeChanges decodes the changes of comments in records, in order. failed has the records that
// cannot be decoded.
func decodeChanges(records []stream.Record) (changes []Change, failed stream.RecordErrors) {
	changes, failed = make([]Change, 0, len(records)), stream.RecordErrors{}
	for i, record := range records {
		switch change, about, err := decodeChange(record); {
		case err != nil:
			failed[i] = fmt.Errorf("record %s: %w", record.Position, err)
		case about:
			change.record = i
			changes = append(changes, change)
		}
	}
	return changes, failed
}

// decodeChange decodes a record. about is false for a record that is not about a comment.
func decodeChange(record stream.Record) (change Change, about bool, err error) {
	image := record.New
	if layout.NoComment(image) {
		image = record.Old
	}
	if layout.NoComment(image) {
		return Change{}, false, nil // a tombstone was changed by hand
	}
	r := layout.NewReader(image)
	if r.Text(layout.AttrSK) != layout.CommentSK || r.Err() != nil {
		return Change{}, false, nil
	}
	change = Change{ID: layout.IDOfKey(image), Position: record.Position, Created: record.Created}
	if _, err := comment.ParseID(string(change.ID)); err != nil {
		return Change{}, false, fmt.Errorf("item %q is no comment", r.Text(layout.AttrPK))
	}
	if change.Product, err = layout.ProductOf(image); err != nil {
		return Change{}, false, err
	}
	if layout.Listed(record.New) {
		if change.After, err = cellOf(record.New); err != nil {
			return Change{}, false, fmt.Errorf("item of comment %s: %w", change.ID, err)
		}
		change.Version = r.Version()
	}
	if layout.Listed(record.Old) {
		change.Before, _ = cellOf(record.Old) // stays nil if it cannot be read
	}
	return change, true, nil
}

// cellOf returns the cell in which a comment's item is to be counted. Its error contains neither
// the key nor the values of the item.
func cellOf(it layout.Item) (*comment.Cell, error) {
	r := layout.NewReader(it)
	cell := comment.Cell{Language: comment.Language(r.Text(layout.AttrLanguage)), Rating: int(r.Number(layout.AttrRating)), Traits: r.Traits()}
	if err := cmp.Or(r.Err(), layout.CheckCell(cell)); err != nil {
		return nil, err
	}
	return &cell, nil
}

func sameCell(a, b *comment.Cell) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
