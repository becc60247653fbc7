package counts

import (
	"fmt"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// A mark says as what a comment is counted. It stands beside the product's statistics, and is changed in one transaction
// with them: at every moment the counts are the sum of the marks.
const (
	markSKPrefix = "M#"
	attrCell     = "s" // S, language and rating; left out when the comment is not counted
	attrPosition = "p" // S, of the last record of the stream that the mark follows; left out when it follows none
	attrSource   = "o" // S, byLooking when a look at the comment itself told the cell, and no record since; else left out
	byLooking    = "look"

	// forgetAfter is how long the mark of a deleted comment stays. Records live for 24 hours in the stream, and none that
	// was read is applied later than an hour after that.
	forgetAfter = 72 * time.Hour
)

// mark says as what a comment is counted.
type mark struct {
	// cell is nil when the comment is not counted.
	cell *comment.Cell
	// position is that of the last record that the mark follows.
	position stream.Position
	// looked is whether a look at the comment itself told the cell. The mark is then ahead of its position, by it is not
	// known what: the next record is noted even if it changes nothing, so that those before it are refused from then on.
	looked bool
	// exists is whether the table holds the mark.
	exists bool
	// damaged are the attributes of a mark that cannot be read, nil of one that can.
	damaged layout.Item
}

func markKey(product string, id comment.ID) layout.Item {
	return layout.ProductKey(product, markSKPrefix+id.Position().String())
}

func markItem(product string, id comment.ID, m mark, now time.Time) layout.Item {
	out := markKey(product, id)
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
	out[attrCell] = layout.Text(cellText(*m.cell))
	return out
}

// decodeMark reads a mark; none is that of a comment which was never counted. Along with an error comes a mark of no cell by
// which what is there can be replaced.
func decodeMark(in layout.Item) (mark, error) {
	if len(in) == 0 {
		return mark{}, nil
	}
	r := layout.NewReader(in)
	m := mark{exists: true, looked: in[attrSource] != nil, position: stream.Position(r.OptionalText(attrPosition))}
	err := r.Err()
	if in[attrCell] != nil && err == nil {
		var cell comment.Cell
		if cell, err = parseCell(r.Text(attrCell)); err != nil {
			err = fmt.Errorf("attribute %q is %w", attrCell, err)
		}
		m.cell = &cell
	}
	if err != nil {
		m.cell, m.damaged = nil, in
		return m, fmt.Errorf("mark %s/%s: %w", r.Text(layout.AttrPK), r.Text(layout.AttrSK), err)
	}
	return m, nil
}

// idOfMark is the comment of a mark, by its sort key.
func idOfMark(sortKey string) (comment.ID, error) {
	position, err := comment.ParsePosition(strings.TrimPrefix(sortKey, markSKPrefix))
	if err != nil {
		return "", fmt.Errorf("%q is no sort key of a mark", sortKey)
	}
	return comment.IDOf(position), nil
}

// unchanged is the condition that a mark is as it was read.
func (m mark) unchanged() (condition string, values layout.Item) {
	if m.damaged != nil {
		return sameAttributes(m.damaged, attrCell, attrPosition, attrSource)
	}
	if !m.exists {
		return "attribute_not_exists(" + layout.AttrPK + ")", nil
	}
	values = layout.Item{}
	source := ""
	if m.looked {
		source = byLooking
	}
	return "attribute_exists(" + layout.AttrPK + ")" + andEqual(attrCell, textOf(m.cell), values) +
		andEqual(attrPosition, string(m.position), values) + andEqual(attrSource, source, values), values
}
