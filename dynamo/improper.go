package dynamo

import (
	"fmt"
	"slices"
	"strings"
)

// What becomes of items that are not what they should be, because someone changed them by hand: each is passed over and
// reported by its key, never by what stands in it, and spoils nothing for the others.

// Improper is an item that is not what it should be.
type Improper struct {
	// Key is its partition key and its sort key.
	Key string
	// Reason is what is wrong with it, without anything that was written.
	Reason string
}

// improper is an item that is not what it should be.
func improper(it item, reason string) Improper {
	return Improper{Key: textAt(it, attrPK) + "/" + textAt(it, attrSK), Reason: reason}
}

// String is the key and the reason on one line.
func (i Improper) String() string { return fmt.Sprintf("item %s: %s", i.Key, i.Reason) }

// sortedImproper are items in the order of their keys, each once.
func sortedImproper(items []Improper) []Improper {
	slices.SortFunc(items, func(a, b Improper) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(items)
}
