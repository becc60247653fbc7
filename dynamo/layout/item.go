package layout

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/talkback/talkback/comment"
)

// Attributes of a comment. Names are of one letter because every byte of an item is paid for at each read, in the table
// and in each of the four list indexes.
const (
	AttrLanguage   = "l" // S
	AttrRating     = "r" // N
	attrTitle      = "h" // S, the headline; left out when there is none
	AttrText       = "t" // S, or B when compressed
	attrAuthorID   = "a" // S, or B when the author is imported
	attrAuthorName = "n" // S
	AttrVersion    = "v" // N, left out while it is 1
	attrUpdated    = "u" // N, milliseconds since 1970, left out when never edited

	// AttrSpare is in the projection of every list index, and no item has it yet. DynamoDB cannot change what an index
	// projects: whatever else a list is to show one day goes in there, and until then it costs nothing.
	AttrSpare = "x"
)

// ListAttrs returns the attributes that a list shows, beside the time of writing, which is in the sort key.
func ListAttrs() []string {
	return []string{AttrLanguage, AttrRating, attrTitle, AttrText, attrAuthorID, attrAuthorName, AttrVersion, attrUpdated}
}

var (
	listProjection     = AttrPK + "," + strings.Join(ListAttrs(), ",")
	bareListProjection = strings.Replace(listProjection, ","+AttrText+",", ",", 1)
)

// ListProjection returns the projection expression of what a list shows, and of no other key. The text may be left out: it
// can be 99 % of a comment's size.
func ListProjection(withText bool) string {
	if withText {
		return listProjection
	}
	return bareListProjection
}

// Encode makes the item of a comment, with its place in every index.
func Encode(c comment.Comment) Item {
	out := CommentKey(c.ID)
	for _, index := range ListIndexes() {
		out[index.PartitionAttr()] = Text(PartitionOf(index, c).Key(c.ProductID))
	}
	out[AttrLanguage] = Text(string(c.Language))
	out[AttrRating] = Number(int64(c.Rating))
	out[AttrText] = storedText(c.Text)
	out[attrAuthorID] = storedAuthorID(c.Author)
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

// Decode reads a comment from an item of the table. An item that Encode cannot have made is an error, which names its key
// and holds nothing of what was written.
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

// Compressed is a comment whose text is still compressed if it is stored so.
type Compressed struct {
	comment.Comment
	CompressedText []byte // nil if the comment has its text
	Bytes          int    // size of the attributes that were read, names included
}

// Decompress returns the comment with its text. A damaged text is an error, which comes with a comment that has only an id.
func (c Compressed) Decompress() (comment.Comment, error) {
	if c.CompressedText == nil {
		return c.Comment, nil
	}
	text, err := plainText(c.CompressedText)
	if err != nil {
		return comment.Comment{ID: c.ID}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	c.Text = text
	return c.Comment, nil
}

// DecodeCompressed reads a comment of a product from an item of the table or of a list index, which does not hold the
// product. Its text is left as it is stored, and left out without withText. Errors are those of Decode.
func DecodeCompressed(in Item, product string, withText bool) (Compressed, error) {
	r := NewReader(in)
	position, err := PositionOfKey(r.Text(AttrPK))
	if err != nil {
		return Compressed{}, fmt.Errorf("item of product %q has no ULID in %s", product, AttrPK)
	}
	c := comment.Comment{
		ID:        comment.IDOf(position),
		ProductID: product,
		Language:  comment.Language(r.Text(AttrLanguage)),
		Rating:    int(r.Number(AttrRating)),
		Author:    r.author(),
	}
	var compressed []byte
	if withText {
		c.Text, compressed = r.TextOrBinary(AttrText)
	}
	c.Title = r.title()
	c.Version = r.Version()
	if in[attrUpdated] != nil {
		updated := r.Time(attrUpdated)
		c.UpdatedAt = &updated
	}
	if err := cmp.Or(r.Err(), CheckCell(c.Cell())); err != nil {
		return Compressed{}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	return Compressed{c, compressed, r.bytes}, nil
}

// ProductOf is the product of an item of the table, from its partition key in the index All.
func ProductOf(in Item) (string, error) {
	r := NewReader(in)
	product, found := strings.CutPrefix(r.Text(AttrAll), ProductPKPrefix)
	if !found {
		return "", fmt.Errorf("item %s has no product in %s", r.Text(AttrPK), AttrAll)
	}
	return product, nil
}

// IDOfKey is the id of a comment by the primary key of its item.
func IDOfKey(key Item) comment.ID {
	r := NewReader(key)
	return comment.ID(comment.IDPrefix + strings.TrimPrefix(r.Text(AttrPK), CommentPKPrefix))
}

// storedAuthorID is a text for a customer and binary for an imported author, so that no id of the one is ever one of the
// other's.
func storedAuthorID(a comment.Author) types.AttributeValue {
	if a.Imported {
		return &types.AttributeValueMemberB{Value: []byte(a.ID)}
	}
	return Text(a.ID)
}

// author is the author of a comment.
func (r *Reader) author() comment.Author {
	id, imported := r.TextOrBinary(attrAuthorID)
	if imported != nil {
		return comment.Author{ID: string(imported), Name: r.Text(attrAuthorName), Imported: true}
	}
	return comment.Author{ID: id, Name: r.Text(attrAuthorName)}
}

// title is the title of a comment, nil for none.
func (r *Reader) title() *string {
	if r.item[attrTitle] == nil {
		return nil
	}
	return r.text(attrTitle)
}

// Version is the version of a comment, which is left out while it is 1.
func (r *Reader) Version() int {
	if r.item[AttrVersion] == nil {
		return 1
	}
	return int(r.Number(AttrVersion))
}

// CheckCell returns an error for what no comment can be counted as.
func CheckCell(cell comment.Cell) error {
	if cell.Language == "" || strings.ContainsAny(string(cell.Language), "/"+string(comment.OtherLanguages)) {
		return fmt.Errorf("attribute %q is no language", AttrLanguage)
	}
	if comment.CheckRating(cell.Rating) != nil {
		return fmt.Errorf("attribute %q is not a rating of 1 to %d", AttrRating, comment.MaxRating)
	}
	return nil
}
