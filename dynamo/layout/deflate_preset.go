package layout

import (
	_ "embed"
	"encoding/base64"
	"strings"
	"sync"
)

// presetPrefixes has a line for each preset code: its number, its name and, in base64, the
// beginning of a DEFLATE stream that has this code. Lines are only ever added, since stored texts
// name their code by its number.
//
//go:embed deflate_prefixes.txt
var presetPrefixes string

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

// neverUsed is the cost of a byte without a word. It is more than the cost of a text of maxBlock
// bytes, and maxBlock times it fits into 32 bits.
const neverUsed = 1 << 18

// presetCode is a preset code.
type presetCode struct {
	prefix []byte
	// literals and distances are for writing.
	literals, distances []codeWord
	// cost is how many bits a literal takes, or, from endOfText on, a length.
	cost [endOfText + maxLength + 1]uint32
	// reader returns the tables for reading, which are made when they are first needed.
	reader func() *codeTables
}

// presetCodes returns the preset codes by their number.
var presetCodes = sync.OnceValue(func() []*presetCode {
	var out []*presetCode
	for line := range strings.Lines(presetPrefixes) {
		fields := strings.Fields(line)
		prefix, err := base64.StdEncoding.DecodeString(fields[len(fields)-1])
		if err != nil || len(prefix) != prefixBytes {
			panic("deflate_prefixes.txt is damaged") // built in, and read by every test
		}
		out = append(out, newPresetCode(prefix))
	}
	return out
})

func newPresetCode(prefix []byte) *presetCode {
	lengths := make([]uint8, numLiterals+numDistances)
	for i := range lengths {
		for bit := range 4 {
			at := lengthsBefore + 4*i + bit
			lengths[i] = lengths[i]<<1 | prefix[at/8]>>(at%8)&1
		}
	}
	c := &presetCode{prefix: prefix, literals: canonicalWords(lengths[:numLiterals]), distances: canonicalWords(lengths[numLiterals:])}
	for letter := range endOfText {
		c.cost[letter] = neverUsed
		if n := c.literals[letter].length; n > 0 {
			c.cost[letter] = uint32(n)
		}
	}
	for length := minLength; length <= maxLength; length++ {
		symbol, _, extraBits := lengthSymbol(length)
		c.cost[endOfText+length] = uint32(c.literals[symbol].length + extraBits)
	}
	c.reader = sync.OnceValue(func() *codeTables { return newCodeTables(c.literals, c.distances) })
	return c
}
