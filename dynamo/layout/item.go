package layout

import (
	"fmt"
	"strconv"
	"strings"
	"time"

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

// Item is what DynamoDB keeps: values by attribute name.
type Item = map[string]types.AttributeValue

// Encode makes the item of a comment, with its place in every index.
func Encode(c comment.Comment) Item {
	out := CommentKey(c.ID)
	for _, index := range Indexes {
		key := PartitionOf(index.Name, c).Key(c.ProductID)
		out[index.PartitionKey] = &types.AttributeValueMemberS{Value: key}
	}
	out[AttrLanguage] = &types.AttributeValueMemberS{Value: string(c.Language)}
	out[AttrRating] = Number(int64(c.Rating))
	out[AttrText] = storedText(c.Text)
	out[attrAuthorID] = storedAuthorID(c.Author)
	out[attrAuthorName] = &types.AttributeValueMemberS{Value: c.Author.Name}
	if c.Title != nil {
		out[attrTitle] = &types.AttributeValueMemberS{Value: *c.Title}
	}
	if c.Version != 1 {
		out[AttrVersion] = Number(int64(c.Version))
	}
	if c.UpdatedAt != nil {
		out[attrUpdated] = Number(c.UpdatedAt.UnixMilli())
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
	r := Reader{Item: in}
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
		c.Text, packed = r.commentText()
	}
	if in[attrTitle] != nil {
		c.Title = r.textAt(attrTitle)
	}
	c.Version = r.Version()
	if in[attrUpdated] != nil {
		updated := time.UnixMilli(r.Number(attrUpdated)).UTC()
		c.UpdatedAt = &updated
	}
	if err := CheckCell(c.Cell()); err != nil && r.Missing == "" {
		return Packed{}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	if r.Missing != "" {
		return Packed{}, fmt.Errorf("item of comment %s lacks attribute %q, or it is of another type", c.ID, r.Missing)
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
	r := Reader{Item: in}
	product, found := strings.CutPrefix(r.Text(All.PartitionAttr()), Partition{Index: All}.Key(""))
	if !found {
		return "", fmt.Errorf("item %s has no product in %s", r.Text(AttrPK), All.PartitionAttr())
	}
	return product, nil
}

// IDOfKey is the id of a comment by the primary key of its item.
func IDOfKey(key Item) comment.ID {
	r := Reader{Item: key}
	return comment.ID(comment.IDPrefix + strings.TrimPrefix(r.Text(AttrPK), CommentPKPrefix))
}

// Reader takes attributes out of an item and remembers the first that was not as expected.
type Reader struct {
	// Item is what is read.
	Item Item
	// Missing is the name of the first attribute that was not there or of another type, empty for none.
	Missing string

	bytes int // of what was taken, names included
}

// Text takes an attribute that is a text; one that is not is empty and missing.
func (r *Reader) Text(attr string) string { return *r.textAt(attr) }

func (r *Reader) textAt(attr string) *string {
	value, ok := r.Item[attr].(*types.AttributeValueMemberS)
	if !ok {
		r.Miss(attr)
		return new(string)
	}
	r.bytes += len(attr) + len(value.Value)
	return &value.Value
}

// storedAuthorID is a text for a customer and binary for an imported author, so that no id of the one is ever one of the
// other's.
func storedAuthorID(a comment.Author) types.AttributeValue {
	if a.Imported {
		return &types.AttributeValueMemberB{Value: []byte(a.ID)}
	}
	return &types.AttributeValueMemberS{Value: a.ID}
}

// author takes who wrote a comment.
func (r *Reader) author() comment.Author {
	a := comment.Author{Name: r.Text(attrAuthorName)}
	imported, ok := r.Item[attrAuthorID].(*types.AttributeValueMemberB)
	if !ok {
		a.ID = r.Text(attrAuthorID)
		return a
	}
	r.bytes += len(attrAuthorID) + len(imported.Value)
	a.ID, a.Imported = string(imported.Value), true
	return a
}

// commentText takes the text of a comment in the one of its forms that is stored.
func (r *Reader) commentText() (plain string, packed []byte) {
	short, ok := r.Item[AttrText].(*types.AttributeValueMemberB)
	if !ok {
		return r.Text(AttrText), nil
	}
	r.bytes += len(AttrText) + len(short.Value)
	return "", short.Value
}

// Version is the version of a comment, which is left out while it is 1.
func (r *Reader) Version() int {
	if r.Item[AttrVersion] == nil {
		return 1
	}
	return int(r.Number(AttrVersion))
}

// Number takes an attribute that is a whole number; one that is not is 0 and missing.
func (r *Reader) Number(attr string) int64 {
	value, ok := r.Item[attr].(*types.AttributeValueMemberN)
	if !ok {
		r.Miss(attr)
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		r.Miss(attr)
	}
	r.bytes += len(attr) + sizeOfNumber(value.Value)
	return n
}

// Miss notes that an attribute is not what it should be.
func (r *Reader) Miss(attr string) {
	if r.Missing == "" {
		r.Missing = attr
	}
}

// Number is a whole number as an attribute.
func Number(n int64) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// TextValue is a text as an attribute.
func TextValue(s string) *types.AttributeValueMemberS { return &types.AttributeValueMemberS{Value: s} }

// TextAt is empty where there is no text.
func TextAt(from Item, attr string) string {
	value, _ := from[attr].(*types.AttributeValueMemberS)
	if value == nil {
		return ""
	}
	return value.Value
}

// NumberAt is 0 where there is no number.
func NumberAt(from Item, attr string) int64 {
	value, _ := from[attr].(*types.AttributeValueMemberN)
	if value == nil {
		return 0
	}
	n, _ := strconv.ParseInt(value.Value, 10, 64) // only we write it
	return n
}

// FlagAt is false where there is no boolean.
func FlagAt(from Item, attr string) bool {
	value, _ := from[attr].(*types.AttributeValueMemberBOOL)
	return value != nil && value.Value
}

// TimeAt is the zero time where there is none.
func TimeAt(from Item, attr string) time.Time {
	if from[attr] == nil {
		return time.Time{}
	}
	return time.UnixMilli(NumberAt(from, attr)).UTC()
}

// SetTime writes a time to the millisecond, rounded down.
func SetTime(to Item, attr string, t time.Time) {
	if !t.IsZero() {
		to[attr] = Number(t.UnixMilli())
	}
}

// sizeOfNumber is the size of a whole number: a byte for every two digits, counted in pairs from the decimal point and
// without the zero pairs at the end, and one more; a minus sign takes one, too. DynamoDB's documentation says so in fewer
// words, and DynamoDB Local does so.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
func sizeOfNumber(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	if len(digits)%2 == 1 {
		digits = "0" + digits
	}
	for strings.HasSuffix(digits, "00") {
		digits = strings.TrimSuffix(digits, "00")
	}
	size := len(digits)/2 + 1
	if negative {
		size++
	}
	return size
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

// SizeOf is the size of the named attributes of an item in bytes, names included.
func SizeOf(it Item, names []string) int {
	size := 0
	for _, name := range names {
		switch value := it[name].(type) {
		case *types.AttributeValueMemberS:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberB:
			size += len(name) + len(value.Value)
		case *types.AttributeValueMemberN:
			size += len(name) + sizeOfNumber(value.Value)
		}
	}
	return size
}
