package layout

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Attributes of a comment. Names have one letter because each read pays for every byte of an item,
// in the table and in each of the four list indexes.
const (
	AttrLanguage   = "l" // S
	AttrRating     = "r" // N
	attrTitle      = "h" // S, the headline; absent if the comment has none
	AttrText       = "t" // S, or B when compressed
	AttrAuthorID   = "a" // B, of an imported author; a customer's is in AttrWriter
	attrAuthorName = "n" // S
	AttrVersion    = "v" // N, absent while it is 1
	attrUpdated    = "u" // N, milliseconds since 1970; absent until the first edit
	attrReply      = "o" // M, the reply of the shop, or the version of its deletion; absent without one
	AttrTraits     = "k" // S, a letter for each trait, in the order of the alphabet; absent without any
	attrVotes      = "y" // S, helpful and other votes, imported ones included, such as "12,3"; absent without any
	attrPictures   = "i" // S, pictures and videos, see mediaText; absent without any

	// Attributes that lists do not show.
	AttrState    = "z" // S, absent while the comment is approved; see stateText
	attrProduct  = "p" // S, the product; only while the comment is not approved, and so in no list index
	attrHeldEdit = "j" // M, an edit that waits for a moderator
	attrRejected = "s" // N, version of the latest edit that was rejected beside the comment, or see Moderation.RejectedEdit
	attrImported = "b" // S, votes with which the comment was imported, in the form of attrVotes
	AttrReports  = "f" // N, how many people reported the comment since the last decision
	AttrKeyHash  = "g" // B, hash of the idempotency key that the comment was added with; see KeyOfHash

	// Attributes that list indexes project but no list reads yet. DynamoDB cannot change the
	// projection of an index, so these names are reserved for later releases. Until then they cost
	// nothing.
	attrReplies = "q" // how many replies of customers there are
	attrShop    = "d" // attributes of the shop
	attrSpare   = "x" // anything unforeseen
)

// writerOfComment precedes the id of a customer in AttrWriter of a comment, and writerOfReport in
// that of a report or a vote.
const (
	writerOfComment = "c"
	writerOfReport  = "v"
)

// WriterOfComment returns AttrWriter of the comments of a customer, which is their partition key in
// the index ByAuthor.
func WriterOfComment(customer string) *types.AttributeValueMemberS {
	return Text(writerOfComment + customer)
}

// WriterOfReport returns AttrWriter of the reports and votes of a customer, in the same index.
func WriterOfReport(customer string) *types.AttributeValueMemberS {
	return Text(writerOfReport + customer)
}

// ListAttrs returns the attributes that a list shows. The creation time is not among them: it is
// part of the sort key.
func ListAttrs() []string {
	return []string{AttrLanguage, AttrRating, attrTitle, AttrText, AttrWriter, AttrAuthorID, attrAuthorName, AttrVersion, attrUpdated, attrReply, AttrTraits, attrVotes, attrPictures}
}

var (
	listProjection     = AttrPK + "," + AttrSK + "," + strings.Join(ListAttrs(), ",")
	bareListProjection = strings.Replace(listProjection, ","+AttrText+",", ",", 1)
)

// ListProjection returns the projection expression of a list: the key of the item and ListAttrs.
// The text, which can be 99 % of a comment's size, can be left out.
func ListProjection(withText bool) string {
	if withText {
		return listProjection
	}
	return bareListProjection
}

// TableProjection returns the projection expression of a comment's item in the table:
// ListProjection, and the attributes that lists do not show.
func TableProjection(withText bool) string {
	return ListProjection(withText) + "," + strings.Join([]string{AttrAll, attrProduct, AttrDeleted, AttrState, attrHeldEdit, attrRejected, AttrReports, AttrBoard, AttrPlace}, ",")
}

// ProductAttrs names the attributes that ProductOf reads of a listed or unlisted comment, as a
// projection expression.
const ProductAttrs = AttrAll + "," + attrProduct

// AttrDeleted is when the comment was deleted: N, milliseconds since 1970.
const AttrDeleted = "e"

// AttrFirst is an attribute of the items of idempotency keys and of OneKey, which allow a comment
// to be written only once: S, the ID of that comment.
const AttrFirst = "c"

// AttrMark is a random text that identifies one edit or delete: S. By it, a retry recognizes that
// an earlier try succeeded.
const AttrMark = "m"
