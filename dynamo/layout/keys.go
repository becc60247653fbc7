package layout

import (
	"strings"

	"github.com/talkback/talkback/comment"
)

// Attributes of the keys. The list indexes sort by the table's own PK, whose end is the comment's position: so an entry of
// an index, which holds the table's keys anyway, needs no sort key of its own. Partition keys of lists are one capital
// letter, since every byte of an entry is paid for at each read. An item is in an index because it has the index's key, so
// no other item may have an attribute of these names.
const (
	AttrPK              = "PK"
	AttrSK              = "SK"
	AttrAll             = "A"
	attrByLang          = "L"
	attrByRating        = "R"
	attrByLangAndRating = "B" // both
	AttrBoard           = "board"
	AttrPlace           = "place"
	AttrTTL             = "expires"

	CommentSK       = "C"
	CommentPKPrefix = "C#"
	ProductPKPrefix = "P#"
)

// CommentKey is the primary key of a comment.
func CommentKey(id comment.ID) Item {
	return Item{
		AttrPK: Text(CommentPKPrefix + strings.TrimPrefix(string(id), comment.IDPrefix)),
		AttrSK: Text(CommentSK),
	}
}

// SortKeyOf is the sort key of a position in every list.
func SortKeyOf(p comment.Position) string { return CommentPKPrefix + p.String() }

// PositionOfKey is the position of a comment by the partition key of its item, which is the sort key of every list.
func PositionOfKey(pk string) (comment.Position, error) {
	return comment.ParsePosition(strings.TrimPrefix(pk, CommentPKPrefix))
}

// StreamKey is the primary key of an item about the stream, or of settings.
func StreamKey(partition, sort string) Item {
	return Item{AttrPK: Text(partition), AttrSK: Text(sort)}
}

// ProductKey is the primary key of an item about a product.
func ProductKey(product, sortKey string) Item {
	return Item{
		AttrPK: Text(productPK(product)),
		AttrSK: Text(sortKey),
	}
}

// ProductOfKey is the product of an item about a product, by its primary key.
func ProductOfKey(key Item) string {
	r := NewReader(key)
	return strings.TrimPrefix(r.Text(AttrPK), ProductPKPrefix)
}

// productPK is the partition key of what is about a product.
func productPK(product string) string { return ProductPKPrefix + product }
