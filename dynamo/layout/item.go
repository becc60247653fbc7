// Package layout defines the contents of the table: its keys and indexes, the item of a comment,
// and how texts are compressed. It encodes and decodes items, and calls no service. It also
// computes what DynamoDB charges for reads and writes, and bounds the cost of a page or a count.
//
// Package counts defines the items of statistics, and package leases those of the stream's
// consumers.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// Encode returns the item of a comment. If the comment is approved, it has the keys of every list
// index, otherwise of none, so that no list can show the comment.
func Encode(c comment.Comment) Item {
	out := CommentKey(c.ID)
	if c.Status == comment.Approved {
		for _, index := range ListIndexes() {
			out[index.PartitionAttr()] = Text(PartitionOf(index, c).Key(c.ProductID))
		}
		if len(c.Media) > 0 {
			out[attrMedia] = out[AttrPK]
		}
	} else {
		out[attrProduct] = Text(ProductPKPrefix + c.ProductID)
	}
	encodeContent(out, c)
	if c.Author.Imported {
		out[AttrAuthorID] = Binary([]byte(c.Author.ID))
	} else {
		out[AttrWriter] = WriterOfComment(c.Author.ID)
	}
	out[attrAuthorName] = Text(c.Author.Name)
	if c.Reply != nil || c.ReplyDeletion > 0 {
		out[attrReply] = &types.AttributeValueMemberM{Value: encodeReply(c.Reply, c.ReplyDeletion)}
	}
	if traits := c.Traits().String(); traits != "" {
		out[AttrTraits] = Text(traits)
	}
	if c.ImportedVotes != (comment.VoteCounts{}) {
		out[attrImported] = Text(votesText(c.ImportedVotes))
	}
	shown := c.AllVotes()
	if shown != (comment.VoteCounts{}) {
		out[attrVotes] = Text(votesText(shown))
	}
	if shown.Net() > 0 {
		out[attrHelpful] = Text(helpfulPlace(c.ID, shown))
	}
	encodeModeration(out, c)
	return out
}

// Decode decodes a comment from an item of the table. It returns an error for an item that Encode
// cannot have made. The error names the item's key and holds no text of the comment.
func Decode(in Item) (comment.Comment, error) {
	product, err := ProductOf(in)
	if err != nil {
		return comment.Comment{}, err
	}
	c, err := DecodeCompressed(in, product, true)
	if err != nil {
		return comment.Comment{}, err
	}
	return c.Decompress()
}

// Compressed is a comment whose text is compressed, if it is stored that way.
type Compressed struct {
	comment.Comment
	CompressedText []byte // nil if Comment has its text
	Bytes          int    // size of the attributes that were read, names included
}

// Decompress returns the comment with its text. If the text is damaged, it returns an error and a
// comment that has only an ID.
func (c Compressed) Decompress() (comment.Comment, error) {
	if c.CompressedText == nil {
		return c.Comment, nil
	}
	text, err := ExpandText(c.CompressedText, comment.MaxTextBytes)
	if err != nil {
		return comment.Comment{ID: c.ID}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	c.Text = text
	return c.Comment, nil
}

// DecodeCompressed decodes a comment from an item of the table or of a list index. product is its
// product, which items of an index do not hold. The text stays compressed; without withText it is
// not read. Errors are like those of Decode.
func DecodeCompressed(in Item, product string, withText bool) (c Compressed, err error) {
	r := NewReader(in)
	id, ok := r.id()
	if !ok {
		return Compressed{}, fmt.Errorf("item of product %q has no ULID in %s", product, AttrPK)
	}
	if r.Text(AttrSK) != CommentSK {
		return Compressed{}, fmt.Errorf("item of product %q has the list keys of comment %s and is not its item", product, id)
	}
	c.ID = id
	c.ProductID = product
	c.Language = comment.Language(r.Text(AttrLanguage))
	c.Rating = int(r.Number(AttrRating))
	c.Author = r.author()
	c.Author.Name = r.Text(attrAuthorName)
	if withText {
		c.Text, c.CompressedText = r.TextOrBinary(AttrText)
	}
	if r.has(attrTitle) {
		c.Title = new(r.Text(attrTitle))
	}
	c.Version = r.Version()
	if r.has(attrUpdated) {
		c.UpdatedAt = new(r.Time(attrUpdated))
	}
	if r.has(attrReply) {
		c.Reply, c.ReplyDeletion = r.reply()
	}
	if r.has(AttrState) || r.has(attrHeldEdit) || r.has(attrRejected) || r.has(AttrBoard) || r.has(AttrReports) {
		c.Status, c.Moderation = r.moderation()
	}
	c.Verified, c.Media = r.Traits()&comment.IsVerified != 0, r.media()
	c.Votes, c.ImportedVotes = r.votes(attrVotes), r.votes(attrImported)
	c.Bytes = r.bytes
	if err := cmp.Or(r.Err(), CheckCell(c.Cell()), checkAnswerable(&c.Comment)); err != nil {
		return Compressed{}, fmt.Errorf("item of comment %s: %w", id, err)
	}
	return c, nil
}

// Traits reads the traits of a comment.
func (r *Reader) Traits() comment.Traits { return comment.ParseTraits(r.OptionalText(AttrTraits)) }

func (r *Reader) author() comment.Author {
	if r.has(AttrAuthorID) {
		_, id := r.TextOrBinary(AttrAuthorID)
		if id == nil || r.has(AttrWriter) {
			r.fail(AttrAuthorID)
		}
		return comment.Author{ID: string(id), Imported: true}
	}
	id, found := strings.CutPrefix(r.Text(AttrWriter), writerOfComment)
	if !found {
		r.fail(AttrWriter)
	}
	return comment.Author{ID: id}
}

// AuthorOf returns who wrote an item: a comment, a vote or a report. The rest of it may be
// malformed. It returns false if the item does not say.
func AuthorOf(it Item) (author comment.Author, known bool) {
	if id := BytesOf(it, AttrAuthorID); id != nil {
		return comment.Author{ID: string(id), Imported: true}, true
	}
	writer := NewReader(it).OptionalText(AttrWriter)
	for _, prefix := range []string{writerOfComment, writerOfReport} {
		if id, found := strings.CutPrefix(writer, prefix); found {
			return comment.Author{ID: id}, true
		}
	}
	return comment.Author{}, false
}

// ProductOf returns the product of a comment's item in the table. It is in the partition key of the
// index All or, if the comment is in no list, in a separate attribute. It returns an error unless
// the ID has 1 to MaxIDBytes bytes, so that it fits into keys. Other programs may have written IDs
// that Talkback would refuse.
func ProductOf(in Item) (string, error) {
	r, attr := NewReader(in), AttrAll
	switch {
	case Listed(in) || !r.has(attrProduct):
	case r.has(AttrState):
		attr = attrProduct
	default: // it may never have been approved
		return "", fmt.Errorf("item %s is in no list and has no state: set its attribute %q to %q, and rebuild", r.Text(AttrPK), AttrState, statePending)
	}
	product, found := strings.CutPrefix(r.Text(attr), ProductPKPrefix)
	if !found || product == "" || len(product) > comment.MaxIDBytes {
		return "", fmt.Errorf("item %s has no product in %s", r.Text(AttrPK), attr)
	}
	return product, nil
}

// Listed reports whether a comment's item is in the lists, and so is shown and counted.
func Listed(it Item) bool { return it[AttrAll] != nil }

// IDOfKey returns the ID of a comment from the primary key of its item.
func IDOfKey(key Item) comment.ID {
	r := NewReader(key)
	return comment.ID(comment.IDPrefix + strings.TrimPrefix(r.Text(AttrPK), CommentPKPrefix))
}

// CommentOfKey returns the ID of a comment from the primary key of its item. For any other key it
// returns an error, which does not hold the key.
func CommentOfKey(key Item) (comment.ID, error) {
	r := NewReader(key)
	id, ok := r.id()
	if !ok || r.Text(AttrSK) != CommentSK {
		return "", errors.New("its key is not the key of a comment")
	}
	return id, nil
}

// id reads the ID of a comment from the key of its item.
func (r *Reader) id() (id comment.ID, ok bool) {
	ulid, found := strings.CutPrefix(r.Text(AttrPK), CommentPKPrefix)
	id, err := comment.ParseID(comment.IDPrefix + ulid)
	return id, found && err == nil
}

// endOfIDs is the first ID with a time that no answer can hold.
var endOfIDs = comment.IDOf(comment.FirstAt(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))

// checkAnswerable returns an error if an answer could not hold this comment. Times need years of
// four digits; versions and numbers of votes and reports must fit into 32 bits. The id of an
// imported author is binary, but must be UTF-8.
func checkAnswerable(c *comment.Comment) error {
	switch {
	case c.ID >= endOfIDs:
		return fmt.Errorf("attribute %q has a time after the year 9999", AttrPK)
	case c.UpdatedAt != nil && !comment.IsTime(*c.UpdatedAt):
		return fmt.Errorf("attribute %q is not a time of the years 0 to 9999", attrUpdated)
	case c.Version < 1 || c.Version > comment.MaxVersion:
		return fmt.Errorf("attribute %q is not a version", AttrVersion)
	case c.Author.Imported && !utf8.ValidString(c.Author.ID):
		return fmt.Errorf("attribute %q is not UTF-8", AttrAuthorID)
	case max(c.Votes.Helpful, c.Votes.NotHelpful) > math.MaxInt32:
		return fmt.Errorf("attribute %q is not a number of votes", attrVotes)
	case c.Reply != nil && !answerable(c.Reply.Version, c.Reply.CreatedAt, c.Reply.UpdatedAt):
		return fmt.Errorf("attribute %q has an invalid time or version", attrReply)
	case c.HeldEdit() != nil && !answerable(c.HeldEdit().Version, c.HeldEdit().At, nil):
		return fmt.Errorf("attribute %q has an invalid time or version", attrHeldEdit)
	case c.Moderation != nil && (c.Moderation.Reports < 0 || c.Moderation.Reports > math.MaxInt32):
		return fmt.Errorf("attribute %q is not a number of reports", AttrReports)
	}
	return nil
}

func answerable(version int, written time.Time, updated *time.Time) bool {
	return version >= 1 && version <= comment.MaxVersion && comment.IsTime(written) && (updated == nil || comment.IsTime(*updated))
}

// Tombstone returns the item that replaces a deleted comment for ever, so that imports do not
// restore it. It holds the ID, the time of the deletion, and a mark: a delete whose answer was lost
// recognizes its own write by it. It holds nothing of the comment's content, author or product, and
// is in no index.
func Tombstone(id comment.ID, mark string, at time.Time) Item {
	out := CommentKey(id)
	out[AttrDeleted] = Time(at)
	out[AttrMark] = Text(mark)
	return out
}

// NoComment reports whether the item at a comment's key is missing or a tombstone.
func NoComment(it Item) bool { return len(it) == 0 || it[AttrDeleted] != nil }

// AttrImport holds the ImportMark of an imported comment: S. A comment that was written here has
// none. A tombstone from an undone import keeps it.
const AttrImport = "w"

// ImportMark says which import added a comment, and in which state imports left the comment.
type ImportMark struct {
	// Import is the number of the import that added the comment.
	Import int64
	// as is that state: the version of the comment, that of its reply, and its status.
	as string
}

// MarkOf returns the mark that an import writes for a comment.
func MarkOf(number int64, c comment.Comment) ImportMark {
	reply := c.ReplyDeletion
	if c.Reply != nil {
		reply = c.Reply.Version
	}
	return ImportMark{number, fmt.Sprintf("%d:%d:%s", c.NextVersion()-1, reply, stateText(c))}
}

// SameVersionMark begins, in AttrMark, the mark of an edit that keeps the version. Others have no
// small letters.
const SameVersionMark = "v"

// ImportMarkOf reads the mark of an item; false if it has none. The item must have AttrMark too: an
// edit that keeps the version shows only there.
func ImportMarkOf(it Item) (m ImportMark, ok bool) {
	r := NewReader(it)
	digits, as, found := strings.Cut(r.OptionalText(AttrImport), ":")
	number, err := strconv.ParseInt(digits, 10, 64)
	if strings.HasPrefix(r.OptionalText(AttrMark), SameVersionMark) {
		as = ""
	}
	return ImportMark{number, as}, found && err == nil
}

// String returns the mark as stored in AttrImport, such as "7:1:0:".
func (m ImportMark) String() string { return MarkPrefix(m.Import) + m.as }

// Unchanged reports whether nobody has edited, decided about or replied to the comment since the
// import. Votes and reports are no change.
func (m ImportMark) Unchanged(c comment.Comment) bool { return m == MarkOf(m.Import, c) }

// MarkPrefix begins the marks of all comments that an import added.
func MarkPrefix(number int64) string { return strconv.FormatInt(number, 10) + ":" }
