// Package outbox keeps a log of events, the changes of comments, in the table. The processes that
// read the table's stream append to it. Hooks, subscriptions and purges of caches read it.
//
// event.go derives events from the two images of a stream record, by a pure function. The log has
// lanes. Each comment belongs to one of them, so its events are in order. entry.go defines how the
// log is stored, handler.go and lane.go append to it, and read.go reads it. Nothing is appended
// until a reader wants events: outbox.go.
package outbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout"
	"github.com/talkback/talkback/stream"
)

// Kind is a kind of events.
type Kind string

// The kinds of events. All but StatisticsChanged are about a comment.
const (
	// Added is a new comment, which may wait for a moderator.
	Added Kind = "comment.added"
	// Approved is a comment that was in no list and now is in lists.
	Approved Kind = "comment.approved"
	// Edited is a new version of a comment, or a change of whether the purchase is verified. A held
	// edit is not a new version yet.
	Edited Kind = "comment.edited"
	// Held is a comment that was in lists and now waits for a moderator.
	Held Kind = "comment.held"
	// Rejected is a comment that a moderator rejected.
	Rejected Kind = "comment.rejected"
	// Deleted is a comment that was deleted, or withdrawn by its author.
	Deleted Kind = "comment.deleted"
	// Voted is a change of the number of votes about a comment.
	Voted Kind = "comment.voted"
	// Reported is a report about a comment.
	Reported Kind = "comment.reported"
	// Replied is a reply of the shop that was written, edited or deleted.
	Replied Kind = "comment.replied"
	// Imported is a change by an import, or by undoing one. One event covers all such changes of a
	// product that were read from the stream at once.
	Imported Kind = "comments.imported"
	// StatisticsChanged is a change of a product's statistics by a change of this comment. The
	// change is counted before the event is appended.
	StatisticsChanged Kind = "statistics.changed"
)

const (
	letterImported = 'i'
	letterCounted  = 's'
)

// letters has the letters of kinds in an entry, in the order of the events of one record.
var letters = []struct {
	letter byte
	kind   Kind
}{
	{'a', Added}, {'e', Edited}, {'p', Approved}, {'h', Held}, {'r', Rejected}, {'d', Deleted},
	{'v', Voted}, {'f', Reported}, {'o', Replied}, {letterImported, Imported}, {letterCounted, StatisticsChanged},
}

// Kinds returns all kinds, in the order of the events of one change.
func Kinds() (all []Kind) {
	for _, l := range letters {
		all = append(all, l.kind)
	}
	return all
}

// Event is one thing that happened to a comment. It holds no text and nothing about an author.
type Event struct {
	// ID is the same each time the record is handled: letters, digits and an underscore.
	ID      string
	Kind    Kind
	Product string
	// Comment is the id of the comment, also of StatisticsChanged.
	Comment comment.ID
	// Version is the version of the comment after the change; of a deleted one, before it.
	Version int
	// At is when it happened, to the second.
	At time.Time
	// Shown is whether the comment is in lists after the change, and WasShown whether it was
	// before. Do not show the public an event that has neither.
	Shown, WasShown bool
	// Number is the place of the event in its lane: later ones have higher numbers. It is 0 if the
	// event was not read from the log.
	Number uint64
}

// entry has all events of one change, from a record of the stream.
type entry struct {
	position        stream.Position
	kinds           string // letters
	product         string
	comment         comment.ID
	version         int
	at              time.Time
	shown, wasShown bool
}

// Of returns the events of a record of the stream; none if it is not about a comment.
func Of(record stream.Record) []Event {
	e, ok := entryOf(record)
	if !ok {
		return nil
	}
	return e.events()
}

func (e entry) has(letter byte) bool { return strings.IndexByte(e.kinds, letter) >= 0 }

func (e entry) events() []Event {
	out := make([]Event, 0, len(e.kinds))
	for _, l := range letters {
		if !e.has(l.letter) {
			continue
		}
		// The id is a hash, because positions contain full stops, which separate the parts of a
		// hook's signed content. The position alone recurs, with another change, after the folder of
		// the local engine was put back: receivers would take that for an event that they have.
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %c %s %d", e.position, l.letter, e.comment, e.at.Unix()))
		out = append(out, Event{
			ID: "evt_" + hex.EncodeToString(sum[:16]), Kind: l.kind, Product: e.product, Comment: e.comment,
			Version: e.version, At: e.at, Shown: e.shown, WasShown: e.wasShown,
		})
	}
	return out
}

// entryOf returns the entry of a record; false if it has no events. It ignores items that are no
// readable comment of a product: counting reports these.
func entryOf(record stream.Record) (entry, bool) {
	old, now := record.Old, record.New
	image := now
	if layout.NoComment(image) {
		image = old
	}
	if layout.NoComment(image) {
		return entry{}, false
	}
	id, err := layout.CommentOfKey(image)
	if err != nil {
		return entry{}, false
	}
	product, err := layout.ProductOf(image)
	if err != nil {
		return entry{}, false
	}
	e := entry{
		position: record.Position, product: product, comment: id, version: layout.NewReader(image).Version(),
		at: record.Created.UTC(), shown: layout.Listed(now), wasShown: layout.Listed(old),
	}
	e.kinds = kindsOf(old, now)
	// An import leaves its own mark on what it changes, and so does undoing one.
	mark := now[layout.AttrImport]
	if mark != nil && (layout.NoComment(now) || !reflect.DeepEqual(old[layout.AttrImport], mark)) {
		counted := e.has(letterCounted)
		if e.kinds = string(letterImported); counted {
			e.kinds += string(letterCounted)
		}
	}
	return e, e.kinds != ""
}

// kindsOf returns the letters of the events of a change of an item.
func kindsOf(old, now layout.Item) string {
	before, after := layout.StageOf(old), layout.StageOf(now)
	var kinds []byte
	switch {
	case layout.NoComment(old):
		kinds = append(kinds, 'a')
	case layout.NoComment(now):
		kinds = append(kinds, 'd')
	case before.Status == after.Status:
	case after.Status == comment.Approved:
		kinds = append(kinds, 'p')
	case after.Status == comment.Rejected:
		kinds = append(kinds, 'r')
	case after.Status == comment.Withdrawn:
		kinds = append(kinds, 'd')
	case before.Status == comment.Approved:
		kinds = append(kinds, 'h')
	}
	if !layout.NoComment(old) && !layout.NoComment(now) {
		// Whether a purchase is verified is shown and filtered by, and its edit keeps the version.
		if after.Version > before.Version || after.Verified != before.Verified {
			kinds = append(kinds, 'e')
		}
		if after.Votes != before.Votes {
			kinds = append(kinds, 'v')
		}
		if after.Reports > before.Reports {
			kinds = append(kinds, 'f')
		}
		if after.Reply != before.Reply {
			kinds = append(kinds, 'o')
		}
	}
	if before.Cell != after.Cell {
		kinds = append(kinds, letterCounted)
	}
	return string(kinds)
}
