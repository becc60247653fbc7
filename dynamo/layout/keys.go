package layout

import (
	"strings"
)

// StreamKey is the primary key of an item about the stream, or of settings.
func StreamKey(partition, sort string) Item {
	return Item{AttrPK: Text(partition), AttrSK: Text(sort)}
}

// ProductKey is the primary key of an item about a product.
func ProductKey(product, sortKey string) Item {
	return Item{
		AttrPK: Text(Partition{Index: All}.Key(product)),
		AttrSK: Text(sortKey),
	}
}

// ProductOfKey is the product of an item about a product, by its primary key.
func ProductOfKey(key Item) string {
	r := NewReader(key)
	return strings.TrimPrefix(r.Text(AttrPK), Partition{Index: All}.Key(""))
}
