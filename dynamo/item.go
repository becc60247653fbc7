package dynamo

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
	attrLanguage   = "l" // S
	attrRating     = "r" // N
	attrTitle      = "h" // S, the headline; left out when there is none
	attrText       = "t" // S, or B when compressed
	attrAuthorID   = "a" // S, or B when the author is imported
	attrAuthorName = "n" // S
	attrVersion    = "v" // N, left out while it is 1
	attrUpdated    = "u" // N, milliseconds since 1970, left out when never edited

	// attrSpare is in the projection of every list index, and no item has it yet. DynamoDB cannot change what an index
	// projects: whatever else a list is to show one day goes in there, and until then it costs nothing.
	attrSpare = "x"
)

// listAttrs are what a list shows, beside the time of writing, which is in the sort key.
var listAttrs = []string{
	attrLanguage, attrRating, attrTitle, attrText, attrAuthorID, attrAuthorName, attrVersion, attrUpdated,
}

// listProjection asks an index for what a list shows and for no other key. bareProjection leaves the text out, which may be
// all but a hundredth of that.
var (
	listProjection = attrPK + "," + strings.Join(listAttrs, ",")
	bareProjection = strings.Replace(listProjection, ","+attrText+",", ",", 1)
)

// item is what DynamoDB keeps: values by attribute name.
type item = map[string]types.AttributeValue

// encode makes the item of a comment, with its place in every index.
func encode(c comment.Comment) item {
	out := commentKey(c.ID)
	for _, index := range indexes {
		key := partitionOf(index.name, c).Key(c.ProductID)
		out[index.partitionKey] = &types.AttributeValueMemberS{Value: key}
	}
	out[attrLanguage] = &types.AttributeValueMemberS{Value: string(c.Language)}
	out[attrRating] = number(int64(c.Rating))
	out[attrText] = storedText(c.Text)
	out[attrAuthorID] = storedAuthorID(c.Author)
	out[attrAuthorName] = &types.AttributeValueMemberS{Value: c.Author.Name}
	if c.Title != nil {
		out[attrTitle] = &types.AttributeValueMemberS{Value: *c.Title}
	}
	if c.Version != 1 {
		out[attrVersion] = number(int64(c.Version))
	}
	if c.UpdatedAt != nil {
		out[attrUpdated] = number(c.UpdatedAt.UnixMilli())
	}
	return out
}

// decode reads a comment of a product from an item of the table or of an index. An item that is not one that encode
// made is an error which names its key and never what was written.
func decode(in item, product string) (comment.Comment, error) {
	l, err := decodeListed(in, product, true)
	if err != nil {
		return comment.Comment{}, err
	}
	return l.expand()
}

// listed is a comment as it was read, its text compressed still if it is stored so.
type listed struct {
	comment.Comment
	packed []byte // the compressed text, nil for none
	bytes  int    // of the attributes that were read, names included
}

// expand is the comment with its text.
func (l listed) expand() (comment.Comment, error) {
	if l.packed == nil {
		return l.Comment, nil
	}
	text, err := plainText(l.packed)
	if err != nil {
		return comment.Comment{ID: l.ID}, fmt.Errorf("item of comment %s: %w", l.ID, err)
	}
	l.Text = text
	return l.Comment, nil
}

// decodeListed is decode, but that it expands nothing. Without texts, the item has none.
func decodeListed(in item, product string, texts bool) (listed, error) {
	r := itemReader{item: in}
	position, err := positionOfKey(r.text(attrPK))
	if err != nil {
		return listed{}, fmt.Errorf("item of product %q has no ULID in %s", product, attrPK)
	}
	c := comment.Comment{
		ID:        comment.IDOf(position),
		ProductID: product,
		Language:  comment.Language(r.text(attrLanguage)),
		Rating:    int(r.number(attrRating)),
		Author:    r.author(),
	}
	var packed []byte
	if texts {
		c.Text, packed = r.commentText()
	}
	if in[attrTitle] != nil {
		c.Title = r.textAt(attrTitle)
	}
	c.Version = r.version()
	if in[attrUpdated] != nil {
		updated := time.UnixMilli(r.number(attrUpdated)).UTC()
		c.UpdatedAt = &updated
	}
	if err := checkCell(c.Cell()); err != nil && r.missing == "" {
		return listed{}, fmt.Errorf("item of comment %s: %w", c.ID, err)
	}
	if r.missing != "" {
		return listed{}, fmt.Errorf("item of comment %s lacks attribute %q, or it is of another type", c.ID, r.missing)
	}
	return listed{c, packed, r.bytes}, nil
}

// decodeWhole reads a comment from an item of the table, which tells the product too.
func decodeWhole(in item) (comment.Comment, error) {
	product, err := productOf(in)
	if err != nil {
		return comment.Comment{}, err
	}
	return decode(in, product)
}

// productOf is the product of an item of the table, from its partition key in the index All.
func productOf(in item) (string, error) {
	r := itemReader{item: in}
	product, found := strings.CutPrefix(r.text(All.partitionAttr()), Partition{Index: All}.Key(""))
	if !found {
		return "", fmt.Errorf("item %s has no product in %s", r.text(attrPK), All.partitionAttr())
	}
	return product, nil
}

// idOfKey is the id of a comment by the primary key of its item.
func idOfKey(key item) comment.ID {
	r := itemReader{item: key}
	return comment.ID(comment.IDPrefix + strings.TrimPrefix(r.text(attrPK), commentPKPrefix))
}

// itemReader takes attributes out of an item and remembers the first that was not as expected.
type itemReader struct {
	item    item
	missing string
	bytes   int // of what was taken, names included
}

func (r *itemReader) text(attr string) string { return *r.textAt(attr) }

func (r *itemReader) textAt(attr string) *string {
	value, ok := r.item[attr].(*types.AttributeValueMemberS)
	if !ok {
		r.miss(attr)
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
func (r *itemReader) author() comment.Author {
	a := comment.Author{Name: r.text(attrAuthorName)}
	imported, ok := r.item[attrAuthorID].(*types.AttributeValueMemberB)
	if !ok {
		a.ID = r.text(attrAuthorID)
		return a
	}
	r.bytes += len(attrAuthorID) + len(imported.Value)
	a.ID, a.Imported = string(imported.Value), true
	return a
}

// commentText takes the text of a comment in the one of its forms that is stored.
func (r *itemReader) commentText() (plain string, packed []byte) {
	short, ok := r.item[attrText].(*types.AttributeValueMemberB)
	if !ok {
		return r.text(attrText), nil
	}
	r.bytes += len(attrText) + len(short.Value)
	return "", short.Value
}

// version is the version of a comment, which is left out while it is 1.
func (r *itemReader) version() int {
	if r.item[attrVersion] == nil {
		return 1
	}
	return int(r.number(attrVersion))
}

func (r *itemReader) number(attr string) int64 {
	value, ok := r.item[attr].(*types.AttributeValueMemberN)
	if !ok {
		r.miss(attr)
		return 0
	}
	n, err := strconv.ParseInt(value.Value, 10, 64)
	if err != nil {
		r.miss(attr)
	}
	r.bytes += len(attr) + sizeOfNumber(value.Value)
	return n
}

func (r *itemReader) miss(attr string) {
	if r.missing == "" {
		r.missing = attr
	}
}

func number(n int64) *types.AttributeValueMemberN {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
