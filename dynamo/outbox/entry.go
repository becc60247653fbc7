package outbox

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

const (
	// Lanes is how many lanes the log has.
	Lanes = 4
	// Keep is how long events are kept.
	Keep = 14 * 24 * time.Hour

	// entriesPerItem and bytesPerItem bound an item, so that ten events of a burst cost one write
	// unit.
	entriesPerItem = 10
	bytesPerItem   = layout.WriteUnitBytes - 100 // the key, the names and the label take the rest
)

// LaneOf returns the lane of a comment.
func LaneOf(id comment.ID) int { return layout.ShardOf(string(id), Lanes) }

// Letters that follow those of kinds, for a comment that is in lists and for one that was.
const (
	letterShown    = "L"
	letterWasShown = "W"
)

// encode returns an entry as stored in an item, without the label of its stream. The product comes
// last, because it may contain spaces.
func (e entry) encode() string {
	flags := e.kinds
	if e.shown {
		flags += letterShown
	}
	if e.wasShown {
		flags += letterWasShown
	}
	_, sequence, _ := strings.Cut(string(e.position), "/")
	ulid := strings.TrimPrefix(string(e.comment), comment.IDPrefix)
	return fmt.Sprintf("%s %s %s %d %d %s", strings.TrimLeft(sequence, "0"), flags, ulid, e.version, e.at.Unix(), e.product)
}

var errEntry = errors.New("an entry of the outbox cannot be read")

func decodeEntry(label, text string) (entry, error) {
	parts := strings.SplitN(text, " ", 6)
	if len(parts) < 6 {
		return entry{}, errEntry
	}
	id, err := comment.ParseID(comment.IDPrefix + parts[2])
	version, noVersion := strconv.Atoi(parts[3])
	at, noTime := strconv.ParseInt(parts[4], 10, 64)
	if errors.Join(err, noVersion, noTime) != nil {
		return entry{}, errEntry
	}
	return entry{
		position: stream.PositionOf(label, parts[0]), kinds: strings.Trim(parts[1], letterShown+letterWasShown), product: parts[5],
		comment: id, version: version, at: time.Unix(at, 0).UTC(),
		shown: strings.Contains(parts[1], letterShown), wasShown: strings.Contains(parts[1], letterWasShown),
	}, nil
}

// itemOf makes an item of the entries that fit: the first, and more of the same stream as long as
// the item costs one write unit.
func itemOf(number uint64, entries []entry, now time.Time) layout.Outbox {
	out := layout.Outbox{Number: number, Expires: now.Add(Keep)}
	bytes := 0
	for i, e := range entries {
		text, label := e.encode(), e.position.Label()
		bytes += len(text) + 1
		if i > 0 && (bytes > bytesPerItem || i == entriesPerItem || label != out.Label) {
			break
		}
		out.Label, out.Entries = label, append(out.Entries, text)
	}
	return out
}

// entriesIn returns the entries of an item, without unreadable ones.
func entriesIn(o layout.Outbox) (out []entry) {
	for _, text := range o.Entries {
		if e, err := decodeEntry(o.Label, text); err == nil {
			out = append(out, e)
		}
	}
	return out
}

// The number of an event is the number of its item, shifted, plus its index in the item. So a
// position is one number for each lane.
const (
	indexBits = 7
	wholeItem = 1<<indexBits - 1 // the position behind all events of an item
)

func numberOf(item uint64, index int) uint64 { return item<<indexBits | uint64(index) }
