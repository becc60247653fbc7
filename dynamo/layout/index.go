package layout

import (
	"strconv"

	"github.com/talkback/talkback/comment"
)

// Index is the name of a global secondary index.
type Index string

// The list indexes. Each holds every approved comment once, sorted by position. Its name says how a
// product's comments are split into partitions.
const (
	All             Index = "all"
	ByLang          Index = "byLang"
	ByRating        Index = "byRating"
	ByLangAndRating Index = "byLangAndRating"
)

// The sparse indexes hold the few items that have their keys.
const (
	// Boards holds the leaderboards and the queue of moderators: unrelated lists that share an
	// index.
	Boards Index = "boards"
	// ByAuthor holds the comments, reports and votes of a customer, over all products.
	ByAuthor Index = "byAuthor"
	// ByHelpful holds the comments of a product with helpful votes, and ByMedia those with pictures or
	// videos, in the order of the list indexes.
	ByHelpful Index = "byHelpful"
	ByMedia   Index = "byMedia"
)

// ListIndexes returns the list indexes, those with the smallest partitions first.
func ListIndexes() []Index { return []Index{ByLangAndRating, ByLang, ByRating, All} }

// PartitionAttr returns the attribute with the partition key of an index from which lists are read.
// It panics for any other index.
func (i Index) PartitionAttr() string {
	switch i {
	case All, ByMedia, ByHelpful:
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

// SortAttr returns the attribute with the sort key of such an index. Except in ByHelpful, its
// values are those of AttrPK.
func (i Index) SortAttr() string {
	switch i {
	case ByMedia:
		return attrMedia
	case ByHelpful:
		return attrHelpful
	}
	return AttrPK
}

// SortKey returns the sort key of a place in such an index.
func (i Index) SortKey(p comment.Place) string {
	if i == ByHelpful {
		return placeText(p)
	}
	return SortKeyOf(p.Position)
}

// SplitsByLanguage reports whether each partition of the index holds one language.
func (i Index) SplitsByLanguage() bool { return i == ByLang || i == ByLangAndRating }

// SplitsByRating reports whether each partition of the index holds one rating.
func (i Index) SplitsByRating() bool { return i == ByRating || i == ByLangAndRating }

// Partition is a partition of a list index. It names no product.
type Partition struct {
	Index Index
	// Language is the language of the partition's comments, empty if the index is not split by
	// language.
	Language comment.Language
	// Rating is the rating of the partition's comments, 0 if the index is not split by rating.
	Rating int
}

// Key returns the partition key for a product. A language contains no slash, so different
// partitions have different keys.
func (p Partition) Key(product string) string {
	switch p.Index {
	case ByLang:
		return ProductPKPrefix + product + "/" + string(p.Language)
	case ByRating:
		return ProductPKPrefix + product + "/" + strconv.Itoa(p.Rating)
	case ByLangAndRating:
		return ProductPKPrefix + product + "/" + string(p.Language) + "/" + strconv.Itoa(p.Rating)
	}
	return ProductPKPrefix + product
}

// PartitionOf returns the partition of an index that holds a comment.
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
