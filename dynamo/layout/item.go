package layout

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/layout/deflate"
)

// Attributes of a comment. Names have one letter because each read pays for every byte of an item,
// in the table and in each of the four list indexes.
const (
	AttrLanguage   = "l" // S
	AttrRating     = "r" // N
	attrTitle      = "h" // S, the headline; absent if the comment has none
	AttrText       = "t" // S, or B when compressed
	attrAuthorID   = "a" // S, or B when the author is imported
	attrAuthorName = "n" // S
	AttrVersion    = "v" // N, absent while it is 1
	attrUpdated    = "u" // N, milliseconds since 1970; absent until the first edit

	// AttrSpare is projected by every list index, and no item has it yet. DynamoDB cannot change
	// the projection of an index, so a new field of lists will be stored here. Until then it costs
	// nothing.
	AttrSpare = "x"
)

// ListAttrs returns the attributes that a list shows. The creation time is not among them: it is
// part of the sort key.
func ListAttrs() []string {
	return []string{AttrLanguage, AttrRating, attrTitle, AttrText, attrAuthorID, attrAuthorName, AttrVersion, attrUpdated}
}

var (
	listProjection     = AttrPK + "," + strings.Join(ListAttrs(), ",")
	bareListProjection = strings.Replace(listProjection, ","+AttrText+",", ",", 1)
)

// ListProjection returns the projection expression of a list: PK and ListAttrs. The text, which can
// be 99 % of a comment's size, can be left out.
func ListProjection(withText bool) string {
	if withText {
		return listProjection
	}
	return bareListProjection
}

// Encode returns the item of a comment, with the keys of every list index.
func Encode(c comment.Comment) Item {
	out := CommentKey(c.ID)
	for _, index := range ListIndexes() {
		out[index.PartitionAttr()] = Text(PartitionOf(index, c).Key(c.ProductID))
	}
	out[AttrLanguage] = Text(string(c.Language))
	out[AttrRating] = Number(int64(c.Rating))
	out[AttrText] = storedText(c.Text)
	// A customer's ID is a string and that of an imported author binary, so they are never equal.
	if out[attrAuthorID] = Text(c.Author.ID); c.Author.Imported {
		out[attrAuthorID] = Binary([]byte(c.Author.ID))
	}
	out[attrAuthorName] = Text(c.Author.Name)
	if c.Title != nil {
		out[attrTitle] = Text(*c.Title)
	}
	if c.Version != 1 {
		out[AttrVersion] = Number(int64(c.Version))
	}
	if c.UpdatedAt != nil {
		out[attrUpdated] = Time(*c.UpdatedAt)
	}
	return out
}

// Decode reads a comment from an item of the table. It returns an error for an item that Encode
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
	text, err := deflate.Expand(c.CompressedText, comment.MaxTextBytes)
	if err != nil {
		return comment.Comment{ID: c.ID}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	c.Text = text
	return c.Comment, nil
}

// DecodeCompressed reads a comment from an item of the table or of a list index. The product is
// given, since items of an index do not hold it. The text stays compressed; without withText it is
// not read. Errors are those of Decode.
func DecodeCompressed(in Item, product string, withText bool) (c Compressed, err error) {
	r := NewReader(in)
	id, ok := r.id()
	if !ok {
		return Compressed{}, fmt.Errorf("item of product %q has no ULID in %s", product, AttrPK)
	}
	c.ID = id
	c.ProductID = product
	c.Language = comment.Language(r.Text(AttrLanguage))
	c.Rating = int(r.Number(AttrRating))
	authorID, imported := r.TextOrBinary(attrAuthorID)
	if c.Author.ID = authorID; imported != nil {
		c.Author.ID, c.Author.Imported = string(imported), true
	}
	c.Author.Name = r.Text(attrAuthorName)
	if withText {
		c.Text, c.CompressedText = r.TextOrBinary(AttrText)
	}
	if r.has(attrTitle) {
		title := r.Text(attrTitle)
		c.Title = &title
	}
	c.Version = r.Version()
	if r.has(attrUpdated) {
		updated := r.Time(attrUpdated)
		c.UpdatedAt = &updated
	}
	c.Bytes = r.bytes
	if err := cmp.Or(r.Err(), CheckCell(c.Cell()), checkAnswerable(&c.Comment)); err != nil {
		return Compressed{}, fmt.Errorf("item of comment %s: %w", id, err)
	}
	return c, nil
}

// ProductOf returns the product of a comment's item in the table, from its partition key in the
// index All. It returns an error unless the ID has 1 to MaxIDBytes bytes, so that keys can hold it.
// Other programs may have written one that we would refuse.
func ProductOf(in Item) (string, error) {
	r := NewReader(in)
	product, found := strings.CutPrefix(r.Text(AttrAll), ProductPKPrefix)
	if !found || product == "" || len(product) > comment.MaxIDBytes {
		return "", fmt.Errorf("item %s has no product in %s", r.Text(AttrPK), AttrAll)
	}
	return product, nil
}

// IDOfKey returns the ID of a comment from the primary key of its item.
func IDOfKey(key Item) comment.ID {
	r := NewReader(key)
	return comment.ID(comment.IDPrefix + strings.TrimPrefix(r.Text(AttrPK), CommentPKPrefix))
}

// CommentOfKey returns the ID of a comment from the primary key of its item. The error of another
// item's key does not hold that key.
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

// Version reads the version of a comment. An absent attribute means version 1.
func (r *Reader) Version() int {
	if !r.has(AttrVersion) {
		return 1
	}
	return int(r.Number(AttrVersion))
}

// CheckCell returns an error if no comment can have this language and rating.
func CheckCell(cell comment.Cell) error {
	if !comment.IsTag(string(cell.Language)) {
		return fmt.Errorf("attribute %q is no language", AttrLanguage)
	}
	if comment.CheckRating(cell.Rating) != nil {
		return fmt.Errorf("attribute %q is not a rating of 1 to %d", AttrRating, comment.MaxRating)
	}
	return nil
}

// endOfIDs is the first ID of a comment whose time no answer can hold.
var endOfIDs = comment.IDOf(comment.FirstAt(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)))

// checkAnswerable returns an error if an answer with this comment could not be read: its times need
// years of four digits, its version 32 bits, and the id of its author, which is binary if the author
// was imported, UTF-8.
func checkAnswerable(c *comment.Comment) error {
	switch {
	case c.ID >= endOfIDs:
		return fmt.Errorf("attribute %q has a time after the year 9999", AttrPK)
	case c.UpdatedAt != nil && !comment.IsTime(*c.UpdatedAt):
		return fmt.Errorf("attribute %q is not a time of the years 0 to 9999", attrUpdated)
	case c.Version < 1 || c.Version > comment.MaxVersion:
		return fmt.Errorf("attribute %q is not a version", AttrVersion)
	case c.Author.Imported && !utf8.ValidString(c.Author.ID):
		return fmt.Errorf("attribute %q is not UTF-8", attrAuthorID)
	}
	return nil
}

// minSaved is how many bytes compression must save for a text to be stored compressed. A smaller
// saving is not worth a text that people cannot read in the table.
const minSaved = 32

// storedText returns the attribute value that stores a text: binary if compression saves at least
// minSaved bytes.
func storedText(text string) types.AttributeValue {
	if len(text) > minSaved {
		if short := deflate.Compress(text); len(short)+minSaved <= len(text) {
			return Binary(short)
		}
	}
	return Text(text)
}

// AttrDeleted is when the comment was deleted: N, milliseconds since 1970.
const AttrDeleted = "e"

// AttrMark is a random text that identifies one edit or delete: S. A retry recognizes by it that an
// earlier try succeeded.
const AttrMark = "m"

// Tombstone returns the item that replaces a deleted comment for ever, so that imports do not
// restore the comment. It holds the ID, the time of the deletion, and the mark by which a delete
// whose answer was lost recognizes its own write. It holds nothing of the comment's content, author
// or product, and is in no index.
func Tombstone(id comment.ID, mark string, at time.Time) Item {
	out := CommentKey(id)
	out[AttrDeleted] = Time(at)
	out[AttrMark] = Text(mark)
	return out
}

// NoComment reports whether an item read under a comment's key is no comment: there is no item, or
// a tombstone.
func NoComment(it Item) bool { return len(it) == 0 || it[AttrDeleted] != nil }
