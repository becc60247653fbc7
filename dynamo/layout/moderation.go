package layout

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// The state of a comment as stored in AttrState: a letter, and for a rejected one a slash and the
// reason. An approved comment has no such attribute.
const (
	statePending   = "P"
	stateWithdrawn = "W"
	stateRejected  = "R"
)

// stateText returns the state of a comment as stored in AttrState; empty for an approved one.
func stateText(c comment.Comment) string {
	switch c.Status {
	case comment.Pending:
		return statePending
	case comment.Withdrawn:
		return stateWithdrawn
	case comment.Rejected:
		reason := comment.OtherReason
		if c.Moderation != nil && c.Moderation.Reason != nil {
			reason = *c.Moderation.Reason
		}
		return stateRejected + "/" + string(reason)
	}
	return ""
}

func parseState(text string) (comment.Status, *comment.RejectionReason, bool) {
	letter, reason, _ := strings.Cut(text, "/")
	switch letter {
	case "":
		return comment.Approved, nil, text == ""
	case statePending:
		return comment.Pending, nil, true
	case stateWithdrawn:
		return comment.Withdrawn, nil, true
	case stateRejected:
		rejection := comment.RejectionReason(reason)
		return comment.Rejected, &rejection, slices.Contains(comment.RejectionReasons(), rejection)
	}
	return comment.Rejected, nil, false
}

// SameState returns the condition that a comment's item still has its state and its held edit. It
// adds the values of the condition to values.
func SameState(c comment.Comment, values Item) string {
	condition := "attribute_not_exists(" + AttrState + ")"
	if state := stateText(c); state != "" {
		condition = AttrState + " = :state"
		values[":state"] = Text(state)
	}
	if c.Moderation == nil || c.Moderation.HeldEdit == nil {
		return condition + " AND attribute_not_exists(" + attrHeldEdit + ")"
	}
	values[":held"] = Number(int64(c.Moderation.HeldEdit.Version))
	return condition + " AND " + attrHeldEdit + "." + AttrVersion + " = :held"
}

// within reads a map. If anything in the map is wrong, the whole attribute counts as wrong.
func (r *Reader) within(attr string, read func(in *Reader)) {
	value, ok := r.item[attr].(*types.AttributeValueMemberM)
	if !ok {
		r.fail(attr)
		return
	}
	in := NewReader(value.Value)
	if read(in); in.wrong != "" {
		r.fail(attr)
	}
	r.bytes += len(attr) + sizeOfValue(value)
}

// Extras returns how many held edits and how many replies a comment has: 0 or 1 each. The item may
// be malformed.
func Extras(it Item) (heldEdits, replies int) {
	if it[attrHeldEdit] != nil {
		heldEdits = 1
	}
	if it[attrReply] != nil {
		replies = 1
	}
	return heldEdits, replies
}

// encodeModeration adds the attributes that lists do not show to a comment's item.
func encodeModeration(out Item, c comment.Comment) {
	if state := stateText(c); state != "" {
		out[AttrState] = Text(state)
	}
	if c.Moderation == nil {
		return
	}
	if c.Moderation.HeldEdit != nil {
		held := Item{}
		encodeContent(held, c.WithHeldEdit())
		out[attrHeldEdit] = &types.AttributeValueMemberM{Value: held}
	}
	if c.Moderation.RejectedEdit > 0 {
		out[attrRejected] = Number(int64(c.Moderation.RejectedEdit))
	}
	if c.Moderation.Reports > 0 {
		out[AttrReports] = Number(int64(c.Moderation.Reports))
	}
	if len(c.Moderation.Held) > 0 {
		out[AttrBoard] = Text(QueueKey(ShardOf(string(c.ID), QueueShards)))
		out[AttrPlace] = Text(place(comment.Waiting{ID: c.ID, ProductID: c.ProductID, Language: c.Language, Reasons: c.Moderation.Held, Since: c.Moderation.Since}))
	}
}

// moderation reads the attributes that lists do not show.
func (r *Reader) moderation() (comment.Status, *comment.Moderation) {
	m := &comment.Moderation{Reports: int(r.OptionalNumber(AttrReports)), RejectedEdit: int(r.OptionalNumber(attrRejected))}
	status, reason, ok := parseState(r.OptionalText(AttrState))
	if !ok {
		r.fail(AttrState)
	}
	m.Reason = reason
	if r.has(attrHeldEdit) {
		r.within(attrHeldEdit, func(in *Reader) {
			m.HeldEdit = &comment.HeldEdit{
				Rating: int(in.Number(AttrRating)), Language: comment.Language(in.Text(AttrLanguage)), Text: in.expanded(AttrText),
				Media: in.media(), At: in.Time(attrUpdated), Version: in.Version(),
			}
			if in.has(attrTitle) {
				m.HeldEdit.Title = new(in.Text(attrTitle))
			}
			if CheckCell(comment.Comment{Language: m.HeldEdit.Language, Rating: m.HeldEdit.Rating}.Cell()) != nil {
				in.fail(AttrRating)
			}
		})
	}
	if r.has(AttrBoard) {
		waiting, err := ParseWaiting(r.Text(AttrPlace))
		if err != nil {
			r.fail(AttrPlace)
		}
		m.Held, m.Since = waiting.Reasons, waiting.Since
	}
	return status, m
}

// QueueShards is the number of partitions of the moderators' queue. Each takes 1,000 write units a
// second:
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
const QueueShards = 4

// QueueKey returns the partition key of a shard of the queue in the index Boards; shard is 0 to
// QueueShards-1.
func QueueKey(shard int) string { return "QUEUE#" + strconv.Itoa(shard) }

// place returns the sort key of a place in the queue. Places sort by time. The product comes last,
// since it may contain the separator.
func place(w comment.Waiting) string {
	reasons := make([]string, len(w.Reasons))
	for i, reason := range w.Reasons {
		reasons[i] = string(reason)
	}
	return fmt.Sprintf("%s#%s#%s#%s", beginning(w), strings.Join(reasons, ","), w.Language, w.ProductID)
}

// beginning returns the unique part of a place, by which places sort.
func beginning(w comment.Waiting) string { return fmt.Sprintf("%013d#%s", w.Since.UnixMilli(), w.ID) }

// AfterPlace returns a sort key that comes after a place in the queue, and before the next one.
func AfterPlace(w comment.Waiting) string { return beginning(w) + "#~" }

// ParseWaiting parses a place in the queue.
func ParseWaiting(place string) (comment.Waiting, error) {
	parts := strings.SplitN(place, "#", 5)
	if len(parts) < 5 || parts[2] == "" || parts[4] == "" {
		return comment.Waiting{}, fmt.Errorf("a place in the queue has five parts, not %d", len(parts))
	}
	millis, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return comment.Waiting{}, fmt.Errorf("a place in the queue begins with a time")
	}
	id, err := comment.ParseID(parts[1])
	if err != nil {
		return comment.Waiting{}, err
	}
	w := comment.Waiting{ID: id, Language: comment.Language(parts[3]), ProductID: parts[4], Since: time.UnixMilli(millis).UTC()}
	for _, reason := range strings.Split(parts[2], ",") {
		w.Reasons = append(w.Reasons, comment.HoldReason(reason))
	}
	unknown := func(reason comment.HoldReason) bool { return !slices.Contains(comment.HoldReasons(), reason) }
	if !comment.IsTime(w.Since) || !strings.HasPrefix(place, beginning(w)+"#") || slices.ContainsFunc(w.Reasons, unknown) {
		return comment.Waiting{}, errors.New("a place in the queue has an invalid time or reason")
	}
	return w, nil
}
