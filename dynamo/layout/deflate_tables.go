package layout

// codeTables maps the next bits of a text to their meaning.
type codeTables struct {
	literals  [1 << maxBits]codeEntry
	distances [1 << maxBits]codeEntry
}

// codeEntry is the meaning of some bits: up to three literals, a length, a distance or the end of
// the text.
//
//	literals:         bits of the words (6 bits), the literals (24 bits), how many they are (2 bits)
//	length, distance: bits of the word (6 bits), extra bits (4 bits), the least one (15 bits)
//	end of the text:  bits of the word
type codeEntry uint32

// The lowest bit of each part. The bits of the words come first, as a shift looks at no others.
const (
	lettersAt = 6
	countAt   = 30
	extraAt   = 6
	leastAt   = 10
)

func newCodeTables(literals, distances []codeWord) *codeTables {
	t := &codeTables{}
	for symbol, w := range literals {
		switch {
		case symbol < endOfText:
			fillTable(&t.literals, w, 1<<countAt|codeEntry(symbol)<<lettersAt)
		case symbol == endOfText:
			fillTable(&t.literals, w, 0)
		}
	}
	for length := maxLength; length >= minLength; length-- { // the least of each symbol comes last
		symbol, _, extraBits := lengthSymbol(length)
		fillTable(&t.literals, literals[symbol], codeEntry(extraBits)<<extraAt|codeEntry(length)<<leastAt)
	}
	for symbol := range distances {
		least, extraBits := symbol+1, 0
		if symbol >= 4 {
			extraBits = symbol/2 - 1
			least = (2+symbol%2)<<extraBits + 1
		}
		fillTable(&t.distances, distances[symbol], codeEntry(extraBits)<<extraAt|codeEntry(least)<<leastAt)
	}
	// Literals whose words fit into maxBits together become one entry.
	single := t.literals
	for i, e := range single {
		for e.count() > 0 && e.count() < 3 {
			next := single[i>>e.bits()]
			if next.count() == 0 || e.bits()+next.bits() > maxBits {
				break
			}
			letter := codeEntry(byte(next.letters())) << (lettersAt + 8*e.count())
			e = (e + codeEntry(next.bits()) + 1<<countAt) | letter
		}
		t.literals[i] = e
	}
	return t
}

// fillTable sets the entries of all bits that begin with a word.
func fillTable(table *[1 << maxBits]codeEntry, w codeWord, e codeEntry) {
	if w.length == 0 {
		return
	}
	for i := int(w.bits); i < len(table); i += 1 << w.length {
		table[i] = e | codeEntry(w.length)
	}
}

func (e codeEntry) bits() uint      { return uint(e % 64) }
func (e codeEntry) count() int      { return int(e >> countAt) }
func (e codeEntry) letters() uint32 { return uint32(e >> lettersAt) }
func (e codeEntry) least() int      { return int(e >> leastAt) }

// number returns a length or distance, and the reader behind its extra bits.
func (e codeEntry) number(r bitReader) (int, bitReader) {
	extra := uint(e >> extraAt & 0xf)
	return e.least() + int(r.next&(1<<extra-1)), r.skip(extra)
}
