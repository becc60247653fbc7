package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"strings"

	"github.com/talkback/talkback/comment"
)

// Attributes of the keys. The list indexes sort by the table's own PK, which ends with the
// comment's position. An index entry holds the table's keys anyway, so it needs no separate sort
// key. Partition keys of lists have names of one letter, since each read pays for every byte of an
// entry. An item is in an index if it has the index's keys, so no other item may use these
// attribute names.
const (
	AttrPK              = "PK"
	AttrSK              = "SK"
	AttrAll             = "A"
	attrByLang          = "L"
	attrByRating        = "R"
	attrByLangAndRating = "B" // both
	attrHelpful         = "H" // net votes and ULID, only if they are above 0
	attrMedia           = "M" // the same as PK, only of approved comments with pictures or videos
	AttrWriter          = "U" // a customer's id, after a letter for the kind of item
	AttrBoard           = "board"
	AttrPlace           = "place"
	AttrTTL             = "expires"

	CommentSK       = "C"
	CommentPKPrefix = "C#"
	ProductPKPrefix = "P#"

	DecisionSKPrefix = "D#" // the ULID of a decision about the comment follows
	ReportSKPrefix   = "F#" // a hash of the customer who reported the comment follows

	keyPKPrefix = "KEY#" // the hash of an idempotency key follows
	keySK       = "K"
)

// Key returns a primary key.
func Key(partition, sort string) Item { return Item{AttrPK: Text(partition), AttrSK: Text(sort)} }

// KeyOf returns the primary key of an item.
func KeyOf(it Item) Item { return Item{AttrPK: it[AttrPK], AttrSK: it[AttrSK]} }

// CommentKey returns the primary key of a comment.
func CommentKey(id comment.ID) Item { return Key(commentPK(id), CommentSK) }

// commentPK returns the partition key of a comment and of the items beside it.
func commentPK(id comment.ID) string {
	return CommentPKPrefix + strings.TrimPrefix(string(id), comment.IDPrefix)
}

// SortKeyOf returns the sort key of a position, the same in every list index.
func SortKeyOf(p comment.Position) string { return CommentPKPrefix + p.String() }

// PositionOfKey returns the position of a comment from its item's partition key, which is the sort
// key of every list index.
func PositionOfKey(pk string) (comment.Position, error) {
	return comment.ParsePosition(strings.TrimPrefix(pk, CommentPKPrefix))
}

// KeyOfHash returns the primary key of the item of an idempotency key, from the hash of that key
// and its author.
func KeyOfHash(hash []byte) Item { return Key(keyPKPrefix+hex.EncodeToString(hash), keySK) }

// ShardOf returns the shard, from 0 to shards-1, that holds what is named by a text.
func ShardOf(name string, shards int) int {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // never fails: see its documentation
	return int(hash.Sum32() % uint32(shards))
}

// ProductKey returns the primary key of an item about a product, such as its statistics.
func ProductKey(product, sortKey string) Item { return Key(ProductPKPrefix+product, sortKey) }

// ProductOfKey returns the product of an item about a product, from its primary key.
func ProductOfKey(key Item) string {
	r := NewReader(key)
	return strings.TrimPrefix(r.Text(AttrPK), ProductPKPrefix)
}

// Items that make a customer's comment about a product the only one.
const (
	onePKPrefix = "ONE#" // a hash of the customer and the product follows
	oneSK       = "ONE"
)

// OneKey returns the primary key of the item that makes a customer's comment about a product the
// only one. The key is a hash, which reveals neither.
func OneKey(of comment.CustomerProduct) Item {
	return Key(onePKPrefix+hex.EncodeToString(HashOf(of.Customer, of.Product)), oneSK)
}

// HashOf returns a hash of values. Values whose JSON differs have different hashes.
func HashOf(values ...any) []byte {
	text, err := json.Marshal(values)
	if err != nil {
		panic("layout: " + err.Error()) // texts, numbers and flags only
	}
	hash := sha256.Sum256(text)
	return hash[:]
}
