package prior

import (
	"cmp"
	"errors"
	"hash/fnv"
	"maps"
	"math"
	"slices"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo/planner"
)

// large are hints on the products with most comments, as last seen. They are few and asked for most,
// and unlike what a prior says of products.
type large map[productHash]portrait

// productHash stands for the id of a product. Two products of one hash cost reads, as any wrong hint.
type productHash [5]byte

// portrait is about how many comments a product has, and how ratings mix in it.
type portrait struct {
	// size is the logarithm of the number to the base of the eighth root of 2.
	size uint8
	// ratings are shares of 255.
	ratings [comment.MaxRating]uint8
}

const (
	// largeFrom is how many comments a product has at least of which a hint is kept. One read of
	// fewer is nearly always the cheapest plan.
	largeFrom = 32
	// mostLarge is how many products have hints in the table. Of a process that meets new ones all
	// the time, up to twice as many are in memory.
	mostLarge = 1024
	// octave is how many sizes of a portrait lie between a number and twice that number.
	octave = 8
)

func hashOf(product string) (hash productHash) {
	h := fnv.New64a()
	h.Write([]byte(product))
	copy(hash[:], h.Sum(nil))
	return hash
}

// note replaces the hint on a product by its counts, or by about such counts.
func (l *large) note(product string, counts comment.Counts) {
	total := counts.Total()
	if total < largeFrom {
		delete(*l, hashOf(product))
		return
	}
	if *l == nil {
		*l = large{}
	}
	p := portrait{size: uint8(min(math.Round(octave*math.Log2(float64(total))), math.MaxUint8))}
	for i, n := range counts {
		p.ratings[i] = uint8(math.MaxUint8 * min(max(0, n), total) / total)
	}
	(*l)[hashOf(product)] = p
	if len(*l) > 2*mostLarge {
		*l = l.largest()
	}
}

// hint returns what is known of a product, the zero value for nothing.
func (p portrait) hint() (hint planner.Hint) {
	if p.size == 0 {
		return hint
	}
	hint.Comments = math.Exp2(float64(p.size) / octave)
	for i, share := range p.ratings {
		hint.Ratings[i] = float64(share)
	}
	return hint
}

// with returns both, and of a product in both what newer says.
func (l large) with(newer large) large {
	both := make(large, len(l)+len(newer))
	maps.Copy(both, l)
	maps.Copy(both, newer)
	return both.largest()
}

// largest returns the hints on the mostLarge largest products.
func (l large) largest() large {
	if len(l) <= mostLarge {
		return l
	}
	out := make(large, mostLarge)
	for _, hash := range slices.SortedFunc(maps.Keys(l), func(a, b productHash) int {
		return cmp.Or(cmp.Compare(l[b].size, l[a].size), slices.Compare(a[:], b[:]))
	})[:mostLarge] {
		out[hash] = l[hash]
	}
	return out
}

// entryBytes is how many bytes a hint takes in the table.
const entryBytes = len(productHash{}) + 1 + comment.MaxRating

// encode returns the hints as bytes, in the order of the hashes.
func (l large) encode() []byte {
	out := make([]byte, 0, len(l)*entryBytes)
	for _, hash := range slices.SortedFunc(maps.Keys(l), func(a, b productHash) int { return slices.Compare(a[:], b[:]) }) {
		p := l[hash]
		out = append(append(append(out, hash[:]...), p.size), p.ratings[:]...)
	}
	return out
}

// decodeLarge reads what encode made.
func decodeLarge(in []byte) (large, error) {
	if len(in)%entryBytes != 0 || len(in) > mostLarge*entryBytes {
		return nil, errors.New("its hints on large products have an impossible length")
	}
	out := make(large, len(in)/entryBytes)
	for entry := range slices.Chunk(in, entryBytes) {
		hash, p := productHash(entry[:len(productHash{})]), portrait{size: entry[len(productHash{})]}
		copy(p.ratings[:], entry[len(productHash{})+1:])
		out[hash] = p
	}
	return out, nil
}
