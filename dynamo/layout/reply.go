package layout

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// Attributes of a reply's map that have no counterpart in a comment.
const (
	attrWritten   = "c" // N, when it was written, milliseconds since 1970
	attrReplyName = "n" // S
)

// encodeReply returns the map of a reply. For a deleted reply, which is nil, it holds only the
// version of the deletion.
func encodeReply(reply *comment.Reply, deletion int) Item {
	if reply == nil {
		return Item{AttrVersion: Number(int64(deletion))}
	}
	out := Item{AttrText: storedText(reply.Text), attrReplyName: Text(reply.Name), attrWritten: Time(reply.CreatedAt)}
	if reply.Version != 1 {
		out[AttrVersion] = Number(int64(reply.Version))
	}
	if reply.UpdatedAt != nil {
		out[attrUpdated] = Time(*reply.UpdatedAt)
	}
	return out
}

// reply reads the reply of the shop. For a deleted one it returns nil and the version of the
// deletion.
func (r *Reader) reply() (reply *comment.Reply, deletion int) {
	r.within(attrReply, func(in *Reader) {
		if !in.has(attrWritten) {
			deletion = int(in.Number(AttrVersion))
			return
		}
		reply = &comment.Reply{Text: in.expanded(AttrText), Name: in.Text(attrReplyName), CreatedAt: in.Time(attrWritten), Version: in.Version()}
		if in.has(attrUpdated) {
			reply.UpdatedAt = new(in.Time(attrUpdated))
		}
	})
	return reply, deletion
}

// ReplyOf reads the reply of a comment's item, nil if it has none, and the mark of the call that
// wrote it. version is the reply's, or its deletion's; 0 if there never was a reply.
func ReplyOf(in Item) (reply *comment.Reply, version int, mark string) {
	r := NewReader(in)
	if reply, version = r.reply(); reply != nil {
		version = reply.Version
	}
	r.within(attrReply, func(in *Reader) { mark = in.OptionalText(AttrMark) })
	return reply, version, mark
}

// ReplyUpdate returns the update expression that writes a reply, or deletes it if it is nil, and
// the values of the expression. The mark identifies the call.
func ReplyUpdate(reply *comment.Reply, deletion int, mark string) (expression string, values Item) {
	written := encodeReply(reply, deletion)
	if reply != nil {
		written[AttrMark] = Text(mark)
	}
	return "SET " + attrReply + " = :reply", Item{":reply": &types.AttributeValueMemberM{Value: written}}
}

// SameReply returns the condition that a comment's item still has the same version of its reply, or
// of the reply's deletion, or still has neither. It adds the values of the condition to values.
func SameReply(c comment.Comment, values Item) string {
	reply := c.Reply
	switch {
	case reply == nil && c.ReplyDeletion == 0:
		return "attribute_not_exists(" + attrReply + ")"
	case reply == nil:
		values[":replied"] = Number(int64(c.ReplyDeletion))
		return "attribute_not_exists(" + attrReply + "." + attrWritten + ") AND " + attrReply + "." + AttrVersion + " = :replied"
	}
	values[":written"] = Time(reply.CreatedAt)
	written := attrReply + "." + attrWritten + " = :written AND "
	if reply.Version == 1 {
		return written + "attribute_not_exists(" + attrReply + "." + AttrVersion + ")"
	}
	values[":replied"] = Number(int64(reply.Version))
	return written + attrReply + "." + AttrVersion + " = :replied"
}
