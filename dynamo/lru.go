package dynamo

import "github.com/hashicorp/golang-lru/v2/simplelru"

// remembered is how many products a Store remembers something of, some 300 bytes each, and how many
// pages it knows the contents of.
const remembered = 10_000

// newLRU holds so many values, at least one, and tells of each that has to make room; dropped may
// be nil.
func newLRU[K comparable, V any](size int, dropped func(K, V)) *simplelru.LRU[K, V] {
	lru, err := simplelru.NewLRU(size, dropped)
	if err != nil {
		panic("dynamo: " + err.Error()) // the size is above 0
	}
	return lru
}
