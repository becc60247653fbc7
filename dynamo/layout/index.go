package layout

import (
	"strconv"

	"github.com/talkback/talkback/comment"
)

// Index is the name of a global secondary index.
type Index string

// The list indexes. Each holds every comment once, parted by product and what its name says, and sorted by position.
const (
	All             Index = "all"
	ByLang          Index = "byLang"
	ByRating        Index = "byRating"
	ByLangAndRating Index = "byLangAndRating"
)

// LeadersIndex is the index of the leaderboards. No comment is in it: only items about products have its keys.
const LeadersIndex Index = "leaders"

// ListIndexes returns the list indexes, the most narrow first.
func ListIndexes() []Index { return []Index{ByLangAndRating, ByLang, ByRating, All} }

// PartitionAttr is the attribute that holds the partition key of a list index. It panics for any other index.
func (i Index) PartitionAttr() string {
	switch i {
	case All:
		return AttrAll
	case ByLang:
		return attrByLang
	case ByRating:
		return attrByRating
	case ByLangAndRating:
		return attrByLangAndRating
	}
	panic("layout: no list index is named " + string(i))
}

// SplitsByLanguage tells whether each partition of the index holds one language.
func (i Index) SplitsByLanguage() bool { return i == ByLang || i == ByLangAndRating }

// SplitsByRating tells whether each partition of the index holds one rating.
func (i Index) SplitsByRating() bool { return i == ByRating || i == ByLangAndRating }

// Partition is one partition of an index, of any product.
type Partition struct {
	// Index is the index that it is of.
	Index Index
	// Language is the language it holds, empty when the index does not split by language.
	Language comment.Language
	// Rating is the rating it holds, 0 when the index does not split by rating.
	Rating int
}

// Key is the partition key of p for a product. A language holds no slash, so that every key names one partition.
func (p Partition) Key(product string) string {
	key := productPK(product)
	if p.Index.SplitsByLanguage() {
		key += "/" + string(p.Language)
	}
	if p.Index.SplitsByRating() {
		key += "/" + strconv.Itoa(p.Rating)
	}
	return key
}

// PartitionOf is the partition of an index that a comment stands in.
func PartitionOf(index Index, c comment.Comment) Partition {
	p := Partition{Index: index}
	if index.SplitsByLanguage() {
		p.Language = c.Language
	}
	if index.SplitsByRating() {
		p.Rating = c.Rating
	}
	return p
}
