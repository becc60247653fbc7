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
type productHash [4]byte

// portrait is about how many comments a product has, and how ratings and languages mix in it.
type portrait struct {
	// size is the logarithm of the number to the base of the eighth root of 2.
	size uint8
	// ratings are shares of 255, and together 255.
	ratings [comment.MaxRating]uint8
	// languages are the most frequent ones, empty for none, and shares their numbers in spokenShares.
	languages [spoken]comment.Language
	shares    [spoken]uint8
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
	// spoken is how many languages a portrait tells of.
	spoken = 3
)

// spokenShares are the shares of languages that a portrait tells apart. Number 0 is no language: those
// of lower shares are left out.
var spokenShares = [...]float64{0, .95, .75, .55, .4, .28, .18, .1}

// rareLanguage is assumed of a language that a portrait would tell of if it were frequent.
const rareLanguage = 0.02

func hashOf(product string) (hash productHash) {
	h := fnv.New64a()
	h.Write([]byte(product))
	copy(hash[:], h.Sum(nil))
	return hash
}

// note replaces the hint on a product by its counts, or by about such counts. languages are those of
// its comments, the most frequent first, none if they are not known.
func (l *large) note(product string, counts comment.Counts, languages []comment.LanguageCount) {
	total := counts.Total()
	if total < largeFrom {
		delete(*l, hashOf(product))
		return
	}
	if *l == nil {
		*l = large{}
	}
	p := portrait{size: sizeOf(total)}
	for i, n := range counts {
		p.ratings[i] = uint8(math.Round(math.MaxUint8 * float64(min(max(0, n), total)) / float64(total)))
	}
	p.completeRatings()
	for i, one := range languages[:min(len(languages), spoken)] {
		if share := nearestShare(float64(one.Count) / float64(total)); share > 0 {
			p.languages[i], p.shares[i] = one.Language, share
		}
	}
	(*l)[hashOf(product)] = p
	if len(*l) > 2*mostLarge {
		*l = l.largest()
	}
}

func sizeOf(total int) uint8 {
	return uint8(min(math.Round(octave*math.Log2(float64(total))), math.MaxUint8))
}

// like reports whether a portrait still tells enough of a product with so many comments: it has
// languages, and the number is less than half an octave away.
func (p portrait) like(total int) bool {
	away := int(p.size) - int(sizeOf(total))
	return p.shares[0] > 0 && max(away, -away) < octave/2
}

// completeRatings sets the last share to what the others leave.
func (p *portrait) completeRatings() {
	left := math.MaxUint8
	for _, share := range p.ratings[:comment.MaxRating-1] {
		left -= int(share)
	}
	p.ratings[comment.MaxRating-1] = uint8(max(0, left))
}

// nearestShare is the number of a share that is about as large, 0 for one that is far below all.
func nearestShare(share float64) (nearest uint8) {
	for i := 1; i < len(spokenShares); i++ {
		if share > spokenShares[i]*0.75 {
			return uint8(i)
		}
	}
	return 0
}

// hint returns what is known of a product for a filter by languages, the zero value for nothing.
func (p portrait) hint(languages []comment.Language) (hint planner.Hint) {
	if p.size == 0 {
		return hint
	}
	hint.Comments = math.Exp2(float64(p.size) / octave)
	for i, share := range p.ratings {
		hint.Ratings[i] = float64(share)
	}
	if p.languages[0] != "" && len(languages) <= len(hint.Languages) {
		for i, language := range languages {
			hint.Languages[i] = p.share(language)
		}
	}
	return hint
}

// share is about the share of a language. If all places are taken, others may have half of the least
// of these.
func (p portrait) share(language comment.Language) float64 {
	least, left := 1.0, 1.0
	for i, known := range p.languages {
		share := spokenShares[p.shares[i]]
		switch known {
		case language:
			return share
		case "":
			return rareLanguage
		}
		least, left = min(least, share), left-share
	}
	return max(min(least, left)/2, rareLanguage)
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

// entryBytes is how many bytes a hint takes in the table: the last share of a rating follows from the
// others, and a language takes one byte.
const entryBytes = len(productHash{}) + 1 + comment.MaxRating - 1 + spoken

// mostNumbered is how many languages have a number in the table: five bits of a byte.
const mostNumbered = 1 << 5

// encode returns the hints as bytes, in the order of the hashes. Languages are numbers of a list.
func (l large) encode(numbered []comment.Language) []byte {
	out := make([]byte, 0, len(l)*entryBytes)
	for _, hash := range slices.SortedFunc(maps.Keys(l), func(a, b productHash) int { return slices.Compare(a[:], b[:]) }) {
		p := l[hash]
		out = append(append(append(out, hash[:]...), p.size), p.ratings[:comment.MaxRating-1]...)
		for i, language := range p.languages {
			number := slices.Index(numbered, language)
			if number < 0 || number >= mostNumbered {
				out = append(out, 0)
				continue
			}
			out = append(out, byte(number)|p.shares[i]<<5)
		}
	}
	return out
}

// decodeLarge reads what encode made.
func decodeLarge(in []byte, numbered []comment.Language) (large, error) {
	if len(in)%entryBytes != 0 || len(in) > mostLarge*entryBytes {
		return nil, errors.New("its hints on large products have an impossible length")
	}
	out := make(large, len(in)/entryBytes)
	for entry := range slices.Chunk(in, entryBytes) {
		hash, rest := productHash(entry[:len(productHash{})]), entry[len(productHash{}):]
		p := portrait{size: rest[0]}
		copy(p.ratings[:comment.MaxRating-1], rest[1:])
		p.completeRatings()
		p.speak(rest[comment.MaxRating:], numbered)
		out[hash] = p
	}
	return out, nil
}

// speak sets the languages by their numbers and shares. Those that were left out have none.
func (p *portrait) speak(encoded []byte, numbered []comment.Language) {
	next := 0
	for _, one := range encoded {
		number, share := int(one)%mostNumbered, one>>5
		if share > 0 && number < len(numbered) {
			p.languages[next], p.shares[next] = numbered[number], share
			next++
		}
	}
}
