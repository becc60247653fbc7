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

// ListAttrs are what a list shows, beside the time of writing, which is in the sort key.
var ListAttrs = []string{
	AttrLanguage, AttrRating, attrTitle, AttrText, attrAuthorID, attrAuthorName, AttrVersion, attrUpdated,
}

// ListProjection asks an index for what a list shows and for no other key. bareProjection leaves the text out, which may be
// all but a hundredth of that.
var (
	ListProjection = AttrPK + "," + strings.Join(ListAttrs, ",")
	BareProjection = strings.Replace(ListProjection, ","+AttrText+",", ",", 1)
)

// Encode makes the item of a comment, with its place in every index.
func Encode(c comment.Comment) Item {
	out := CommentKey(c.ID)
	for _, index := range Indexes {
		key := PartitionOf(index.Name, c).Key(c.ProductID)
		out[index.PartitionKey] = Text(key)
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

// Decode reads a comment of a product from an item of the table or of an index. An item that is not one that encode
// made is an error which names its key and never what was written.
func Decode(in Item, product string) (comment.Comment, error) {
	l, err := DecodePacked(in, product, true)
	if err != nil {
		return comment.Comment{}, err
	}
	return l.Expand()
}

// Packed is a comment as it was read, its text compressed still if it is stored so.
type Packed struct {
	comment.Comment
	PackedText []byte // the compressed text, nil for none
	Bytes      int    // of the attributes that were read, names included
}

// Expand is the comment with its text.
func (l Packed) Expand() (comment.Comment, error) {
	if l.PackedText == nil {
		return l.Comment, nil
	}
	text, err := plainText(l.PackedText)
	if err != nil {
		return comment.Comment{ID: l.ID}, fmt.Errorf("item of comment %s: %w", l.ID, err)
	}
	l.Text = text
	return l.Comment, nil
}

// DecodePacked is decode, but that it expands nothing. Without texts, the item has none.
func DecodePacked(in Item, product string, texts bool) (Packed, error) {
	r := NewReader(in)
	position, err := PositionOfKey(r.Text(AttrPK))
	if err != nil {
		return Packed{}, fmt.Errorf("item of product %q has no ULID in %s", product, AttrPK)
	}
	c := comment.Comment{
		ID:        comment.IDOf(position),
		ProductID: product,
		Language:  comment.Language(r.Text(AttrLanguage)),
		Rating:    int(r.Number(AttrRating)),
		Author:    r.author(),
	}
	var packed []byte
	if texts {
		c.Text, packed = r.TextOrBinary(AttrText)
	}
	c.Title = r.title()
	c.Version = r.Version()
	if in[attrUpdated] != nil {
		updated := r.Time(attrUpdated)
		c.UpdatedAt = &updated
	}
	if err := cmp.Or(r.Err(), CheckCell(c.Cell())); err != nil {
		return Packed{}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	return Packed{c, packed, r.bytes}, nil
}

// DecodeWhole reads a comment from an item of the table, which tells the product too.
func DecodeWhole(in Item) (comment.Comment, error) {
	product, err := ProductOf(in)
	if err != nil {
		return comment.Comment{}, err
	}
	return Decode(in, product)
}

// ProductOf is the product of an item of the table, from its partition key in the index All.
func ProductOf(in Item) (string, error) {
	r := NewReader(in)
	product, found := strings.CutPrefix(r.Text(All.PartitionAttr()), Partition{Index: All}.Key(""))
	if !found {
		return "", fmt.Errorf("item %s has no product in %s", r.Text(AttrPK), All.PartitionAttr())
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
