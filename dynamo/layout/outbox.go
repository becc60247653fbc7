package layout

import (
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// Stage is the part of a comment's image that events are derived from.
type Stage struct {
	Status  comment.Status
	Version int
	// Votes has the helpful and the other votes, as stored.
	Votes string
	// Reports is how many reports came since the last decision.
	Reports int64
	// Reply identifies the version of the shop's reply.
	Reply string
	// Verified says that the author is known to have bought the product.
	Verified bool
	// Cell is the cell in which the comment is counted; empty if it is in no list.
	Cell string
}

// StageOf reads the image of a comment's item. It returns the zero Stage for a missing item or a
// tombstone. Unreadable attributes count as missing.
func StageOf(it Item) (s Stage) {
	if NoComment(it) {
		return Stage{}
	}
	r := NewReader(it)
	s = Stage{Status: comment.Approved, Version: r.Version(), Votes: r.OptionalText(attrVotes), Reports: r.OptionalNumber(AttrReports)}
	s.Verified = r.Traits()&comment.IsVerified != 0
	if !Listed(it) {
		s.Status, _, _ = parseState(r.OptionalText(AttrState))
	} else {
		s.Cell = CellText(comment.Cell{Language: comment.Language(r.Text(AttrLanguage)), Rating: int(r.Number(AttrRating)), Traits: r.Traits()})
	}
	if r.has(attrReply) {
		reply, deletion := r.reply()
		s.Reply = strconv.Itoa(deletion)
		if reply != nil {
			s.Reply = "v" + strconv.Itoa(reply.Version)
		}
	}
	return s
}

// Items of the outbox: a partition for each lane, whose sort keys are numbers, and one for the
// whole outbox.
const (
	outboxPK          = "OUT"
	OutboxStartPrefix = "START#" // of the item with the number at which a lane began
	OutboxWantPrefix  = "WANT#"  // of an item that names a reader of events

	AttrOutboxStart   = "n" // N, the number at which a lane began: a time in milliseconds since 1970
	attrOutboxLabel   = "l" // S, the label of the stream of all records
	attrOutboxEntries = "e" // L of S, the entries
	attrOutboxMissing = "b" // BOOL, events before this item may be missing
)

// OutboxKey returns the primary key of an item about the whole outbox.
func OutboxKey(sortKey string) Item { return Key(outboxPK, sortKey) }

// OutboxLanePK returns the partition key of a lane.
func OutboxLanePK(lane int) *types.AttributeValueMemberS {
	return Text(outboxPK + "#" + strconv.Itoa(lane))
}

// OutboxSK returns the sort key of an item of a lane. Keys sort as their numbers do.
func OutboxSK(number uint64) string { return fmt.Sprintf("%016x", number) }

// Outbox is an item of a lane.
type Outbox struct {
	Number uint64
	// Label is the label of the stream from which all Entries come.
	Label   string
	Entries []string
	// Missing is whether events from before the item may be missing in the log.
	Missing bool
	// Improper says why the entries cannot be read, and are left out; nil if they are readable.
	Improper *Improper
	// Expires is when the item may be deleted.
	Expires time.Time
}

// OutboxItem returns an item of a lane.
func OutboxItem(lane int, o Outbox) Item {
	entries := &types.AttributeValueMemberL{}
	for _, e := range o.Entries {
		entries.Value = append(entries.Value, Text(e))
	}
	out := Item{
		AttrPK: OutboxLanePK(lane), AttrSK: Text(OutboxSK(o.Number)),
		attrOutboxLabel: Text(o.Label), attrOutboxEntries: entries, AttrTTL: Number(o.Expires.Unix()),
	}
	if o.Missing {
		out[attrOutboxMissing] = Flag(true)
	}
	return out
}

// DecodeOutbox decodes an item of a lane. An item with unreadable entries still has its number. ok
// is false for any other item.
func DecodeOutbox(it Item) (o Outbox, ok bool) {
	r := NewReader(it)
	sk := r.Text(AttrSK)
	number, err := strconv.ParseUint(sk, 16, 64)
	if err != nil || OutboxSK(number) != sk {
		return o, false
	}
	o = Outbox{Number: number, Label: r.Text(attrOutboxLabel), Missing: it[attrOutboxMissing] != nil}
	entries, isList := it[attrOutboxEntries].(*types.AttributeValueMemberL)
	if !isList {
		r.fail(attrOutboxEntries)
		entries = &types.AttributeValueMemberL{}
	}
	for _, e := range entries.Value {
		text, isText := e.(*types.AttributeValueMemberS)
		if !isText {
			r.fail(attrOutboxEntries)
			break
		}
		o.Entries = append(o.Entries, text.Value)
	}
	if err := r.Err(); err != nil {
		o.Improper, o.Entries = new(NewImproper(it, err.Error())), nil
	}
	o.Expires = time.Unix(r.OptionalNumber(AttrTTL), 0)
	return o, true
}

// Items of hooks.
const (
	hooksPK         = "HOOKS"
	hookProgressSK  = "P"
	HookPKPrefix    = "HOOK#" // of a hook's progress, which is written all the time
	DeadEventPrefix = "D#"    // of the sort key of an event that could not be delivered to a hook
	AttrHook        = "h"     // S, the description of a hook or its progress, as JSON
)

// HookKey returns the primary key of a hook. All hooks are in one partition.
func HookKey(id string) Item { return Key(hooksPK, id) }

// HookProgressKey returns the primary key of the item with the progress of a hook, and with the
// process that delivers to it.
func HookProgressKey(id string) Item { return Key(HookPKPrefix+id, hookProgressSK) }

// DeadEventKey returns the primary key of an event that could not be delivered to a hook.
func DeadEventKey(hook, event string) Item { return Key(HookPKPrefix+hook, DeadEventPrefix+event) }
