package deflate

import (
	_ "embed"
	"encoding/base64"
	"strings"
	"sync"
)

// prefixes has a line for each preset code: its number, its name and, in base64, the beginning of a
// DEFLATE stream that has this code. Lines are only ever added, since stored texts name their code
// by its number.
//
//go:embed prefixes.txt
var prefixes string

// A prefix ends on a byte boundary. It consists of three empty blocks, the header of a block with
// four bits for each length of a word, and these lengths.
const (
	prefixBytes   = 171
	lengthsBefore = 3*10 + 3 + 5 + 5 + 4 + 3*19 // bits before the lengths
)

// marker has the bits that are set in the first byte of a text with a preset code. The bits above
// markerBits are the number of the code.
const (
	marker     = 0b110
	markerBits = 3
)

// never is the cost of a byte without a word. It is more than the cost of a text of maxBlock bytes,
// and maxBlock times it fits into 32 bits.
const never = 1 << 18

// code is a preset code.
type code struct {
	prefix []byte
	// literals and distances are for writing.
	literals, distances []word
	// cost is how many bits a literal takes, or, from endOfText on, a length.
	cost [endOfText + maxLength + 1]uint32
	// reader returns the tables for reading, which are made when they are first needed.
	reader func() *tables
}

// codes returns the preset codes by their number.
var codes = sync.OnceValue(func() []*code {
	var out []*code
	for line := range strings.Lines(prefixes) {
		fields := strings.Fields(line)
		prefix, err := base64.StdEncoding.DecodeString(fields[len(fields)-1])
		if err != nil || len(prefix) != prefixBytes {
			panic("deflate: prefixes.txt is damaged") // built in, and read by every test
		}
		out = append(out, newCode(prefix))
	}
	return out
})

func newCode(prefix []byte) *code {
	lengths := make([]uint8, numLiterals+numDistances)
	for i := range lengths {
		for bit := range 4 {
			at := lengthsBefore + 4*i + bit
			lengths[i] = lengths[i]<<1 | prefix[at/8]>>(at%8)&1
		}
	}
	c := &code{prefix: prefix, literals: canonical(lengths[:numLiterals]), distances: canonical(lengths[numLiterals:])}
	for letter := range endOfText {
		c.cost[letter] = never
		if n := c.literals[letter].length; n > 0 {
			c.cost[letter] = uint32(n)
		}
	}
	for length := minLength; length <= maxLength; length++ {
		symbol, _, extraBits := lengthOf(length)
		c.cost[endOfText+length] = uint32(c.literals[symbol].length + extraBits)
	}
	c.reader = sync.OnceValue(func() *tables { return newTables(c.literals, c.distances) })
	return c
}
