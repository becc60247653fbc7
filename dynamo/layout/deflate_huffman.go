package layout

import "math/bits"

// The alphabets of DEFLATE (RFC 1951, 3.2.5). Literals are bytes; the other symbols of their code
// are the end of the text and lengths of repetitions.
const (
	endOfText    = 256
	numLiterals  = 286
	numDistances = 30
	minLength    = 3
	maxLength    = 258
)

// maxBits is the length of the longest word of a preset code. Longer words would make texts with
// rare letters shorter, but the reader's tables larger.
const maxBits = 12

// codeWord is a word of a Huffman code, its first bit lowest. A symbol without a word has length 0.
type codeWord struct {
	bits   uint16
	length uint8
}

// canonicalWords returns the words of the Huffman code with these lengths (RFC 1951, 3.2.2).
func canonicalWords(lengths []uint8) []codeWord {
	var count, next [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	for n := 1; n <= maxBits; n++ {
		next[n] = (next[n-1] + count[n-1]) << 1
	}
	words := make([]codeWord, len(lengths))
	for symbol, n := range lengths {
		if n > 0 {
			words[symbol] = codeWord{bits.Reverse16(uint16(next[n])) >> (16 - n), n}
			next[n]++
		}
	}
	return words
}

// lengthSymbol returns the symbol of a length of 3 to 258, and the extra bits that follow it.
func lengthSymbol(length int) (symbol int, extra uint32, extraBits uint8) {
	switch n := length - minLength; {
	case length == maxLength:
		return numLiterals - 1, 0, 0
	case n < 8:
		return endOfText + 1 + n, 0, 0
	default:
		b := bits.Len(uint(n)) - 3
		return endOfText + 1 + 4*b + n>>b, uint32(n) & (1<<b - 1), uint8(b)
	}
}

// distanceSymbol returns the symbol of a distance of 1 to 32 KB, and the extra bits that follow it.
func distanceSymbol(distance int) (symbol int, extra uint32, extraBits uint8) {
	n := distance - 1
	if n < 4 {
		return n, 0, 0
	}
	b := bits.Len(uint(n)) - 2
	return 2*b + n>>b, uint32(n) & (1<<b - 1), uint8(b)
}
