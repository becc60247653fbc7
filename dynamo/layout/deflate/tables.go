package deflate

// tables say what the next bits of a text mean.
type tables struct {
	literals  [1 << maxBits]entry
	distances [1 << maxBits]entry
}

// entry is what some bits mean: up to three literals, a length, a distance or the end of the text.
//
//	literals:         bits of the words (6 bits), number of literals (2 bits), from bit 8 on the literals
//	length, distance: bits of the word (6 bits), 0 (2 bits), extra bits (from bit 8 on), the least one (from bit 16 on)
//	end of the text:  bits of the word
type entry uint32

const (
	bitsOfWords  = 1<<6 - 1 // all that a shift looks at, so that the rest need not be cut off
	oneLiteral   = entry(1 << 6)
	firstLiteral = 8
)

// newTables returns the tables of a pair of codes.
func newTables(literals, distances []word) *tables {
	t := &tables{}
	for symbol, w := range literals {
		switch {
		case symbol < endOfText:
			fill(&t.literals, w, oneLiteral|entry(symbol)<<firstLiteral)
		case symbol == endOfText:
			fill(&t.literals, w, 0)
		}
	}
	for length := maxLength; length >= minLength; length-- { // the least of each symbol comes last
		symbol, _, extraBits := lengthOf(length)
		fill(&t.literals, literals[symbol], entry(extraBits)<<8|entry(length)<<16)
	}
	for symbol := range distances {
		least, extraBits := symbol+1, 0
		if symbol >= 4 {
			extraBits = symbol/2 - 1
			least = (2+symbol%2)<<extraBits + 1
		}
		fill(&t.distances, distances[symbol], entry(extraBits)<<8|entry(least)<<16)
	}
	t.join()
	return t
}

// fill sets the entries of all bits that begin with a word.
func fill(table *[1 << maxBits]entry, w word, e entry) {
	if w.length == 0 {
		return
	}
	for i := int(w.bits); i < len(table); i += 1 << w.length {
		table[i] = e | entry(w.length)
	}
}

// join makes one entry of literals whose words fit into maxBits together.
func (t *tables) join() {
	single := t.literals
	for i, e := range single {
		for e.literals() > 0 && e.literals() < 3 {
			next := single[i>>e.bits()]
			if next.literals() == 0 || e.bits()+next.bits() > maxBits {
				break
			}
			letter := next >> firstLiteral << (firstLiteral + 8*e.literals())
			e = (e + entry(next.bits()) + oneLiteral) | letter
		}
		t.literals[i] = e
	}
}

func (e entry) bits() uint     { return uint(e & bitsOfWords) }
func (e entry) literals() uint { return uint(e >> 6 & 3) }
func (e entry) extra() uint    { return uint(e >> 8 & 0xf) }
func (e entry) least() int     { return int(e >> 16) }

// number returns a length or distance, and the reader behind its extra bits.
func (e entry) number(r bitReader) (int, bitReader) {
	return e.least() + int(r.next&(1<<e.extra()-1)), r.skip(e.extra())
}

// literal returns what comes next in a text: up to three literals, a length or the end.
func (t *tables) literal(r bitReader) entry { return t.literals[r.next%(1<<maxBits)] }

// distance returns the distance that comes next.
func (t *tables) distance(r bitReader) entry { return t.distances[r.next%(1<<maxBits)] }
