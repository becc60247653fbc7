package counts

import (
	"fmt"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// A marker says how a comment is counted. It is an item beside the product's statistics, and both
// change in one transaction: at every moment the counts are the sum of the markers.
const (
	attrPosition = "p" // S, of the last record that the marker includes; missing if there is none
	attrSource   = "o" // S, byLooking if the cell was read from the comment and no record came since
	byLooking    = "look"

	// forgetAfter is how long the marker of a deleted comment stays. Records live for 24 hours in
	// the stream, and a record that was read is applied within an hour after that.
	forgetAfter = 72 * time.Hour
)

// marker says how a comment is counted.
type marker struct {
	// cell is nil when the comment is not counted.
	cell *comment.Cell
	// position is the position of the last record that the marker includes.
	position stream.Position
	// looked is whether the cell was read from the comment itself. The marker is then ahead of its
	// position by an unknown number of records. So the next record updates the position even if it
	// changes nothing else, and earlier records are refused from then on.
	looked bool

	stored
}

func markerKey(product string, id comment.ID) layout.Item {
	return layout.ProductKey(product, layout.MarkerSKPrefix+id.Position().String())
}

func markerItem(product string, id comment.ID, m marker, now time.Time) layout.Item {
	out := markerKey(product, id)
	if m.position != "" {
		out[attrPosition] = layout.Text(string(m.position))
	}
	if m.looked {
		out[attrSource] = layout.Text(byLooking)
	}
	if m.cell == nil {
		out[layout.AttrTTL] = layout.Number(now.Add(forgetAfter).Unix())
		return out
	}
	out[layout.AttrCell] = layout.Text(layout.CellText(*m.cell))
	return out
}

// decodeMarker reads a marker. An empty item is the marker of a comment that was never counted. A
// damaged marker has no cell.
func decodeMarker(in layout.Item) marker {
	r := layout.NewReader(in)
	m := marker{stored: stored{item: in}, looked: in[attrSource] != nil, position: stream.Position(r.OptionalText(attrPosition))}
	err := r.Err()
	if in[layout.AttrCell] != nil && err == nil {
		var cell comment.Cell
		if cell, err = layout.ParseCell(r.Text(layout.AttrCell)); err != nil {
			err = fmt.Errorf("attribute %q is %w", layout.AttrCell, err)
		}
		m.cell = &cell
	}
	if err != nil {
		m.cell, m.damage = nil, fmt.Errorf("marker %s/%s: %w", r.Text(layout.AttrPK), r.Text(layout.AttrSK), err)
	}
	return m
}

func idOfMarker(sortKey string) (comment.ID, error) {
	position, err := comment.ParsePosition(strings.TrimPrefix(sortKey, layout.MarkerSKPrefix))
	if err != nil {
		return "", fmt.Errorf("%q is no sort key of a marker", sortKey)
	}
	return comment.IDOf(position), nil
}

// standing says how a comment should be counted.
type standing struct {
	ID comment.ID
	// Cell is nil for a comment that does not exist.
	Cell *comment.Cell
	// position is where the record with this standing is in the stream; empty if the comment itself
	// was read. In that case the transaction checks that the comment is still as it was read.
	position stream.Position
	// moved is whether this standing replaces an earlier record with another cell.
	moved bool
	// comment is the item of the comment, if that was read; empty if it does not exist.
	comment layout.Item
}

// news reports whether a standing changes a marker. A comment whose cell stays the same can still
// be news, in two cases. If the standing replaces an earlier record with another cell, a late
// reader that replays that record must be rejected. The first record after a look is news, because
// the look may have seen the state of that record or of a later one.
func (s standing) news(m marker) bool {
	overtaken := !s.looked() && s.position <= m.position // by the marker, which includes this record or a later one
	return !overtaken && (s.moved || m.damage != nil || m.looked && !s.looked() || !sameCell(m.cell, s.Cell))
}

// looked reports whether the comment itself was read.
func (s standing) looked() bool { return s.position == "" }
