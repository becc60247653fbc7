package layout

const (
	// maxBlock is the size of the largest text that is written with a preset code. Longer texts get
	// shorter with a code of their own.
	maxBlock = 2 << 10
	// betweenBoth is the size from which a text is written in both ways, and the shorter result is
	// kept.
	betweenBoth = 1 << 10

	hashBits   = 11
	maxTries   = 16 // how many earlier places are compared with one place
	longEnough = 48 // a length of repetitions that ends the search for a longer one
)

// blockWriter writes texts with preset codes. It finds the cheapest encoding of each prefix of the
// text, from the shortest on.
type blockWriter struct {
	last     [1 << hashBits]uint16 // the last place of each hash, plus 1
	previous [maxBlock]uint16      // the place with the same hash before, plus 1
	steps    [maxBlock + 1]blockStep
	out      []byte
}

// blockStep is the last step of the cheapest encoding up to a place: a repetition, or a literal of
// length 1.
type blockStep struct {
	cost             uint32 // bits up to here
	length, distance uint16
}

// write returns the text, encoded with the code that suits its letters best. It returns nothing if
// the text has bytes without a word. The bytes are valid until the next call.
func (b *blockWriter) write(text string) []byte {
	number, c := bestCode(text)
	b.search(c, text)
	if b.steps[len(text)].cost >= neverUsed {
		return nil
	}
	b.turn(len(text))
	w := bitWriter{out: append(b.out[:0], byte(number<<markerBits|marker))}
	for at := 0; at < len(text); {
		s := b.steps[at]
		if s.length == 1 {
			w.word(c.literals[text[at]])
		} else {
			symbol, extra, extraBits := lengthSymbol(int(s.length))
			w.word(c.literals[symbol])
			w.write(extra, extraBits)
			symbol, extra, extraBits = distanceSymbol(int(s.distance))
			w.word(c.distances[symbol])
			w.write(extra, extraBits)
		}
		at += int(s.length)
	}
	w.word(c.literals[endOfText])
	b.out = w.close()
	return b.out
}

// bestCode returns the code in which the letters of a text take the fewest bits.
func bestCode(text string) (number int, best *presetCode) {
	var count [256]int
	for i := range len(text) {
		count[text[i]]++
	}
	least := -1
	for n, c := range presetCodes() {
		cost := 0
		for letter, times := range count {
			cost += times * int(c.cost[letter])
		}
		if least < 0 || cost < least {
			least, number, best = cost, n, c
		}
	}
	return number, best
}

// search finds the cheapest encoding of the text.
func (b *blockWriter) search(c *presetCode, text string) {
	clear(b.last[:])
	for i := range len(text) {
		b.steps[i+1].cost = ^uint32(0)
	}
	b.steps[0] = blockStep{}
	skip := 0
	for at := range len(text) {
		b.reach(at+1, b.steps[at].cost+c.cost[text[at]], 1, 0)
		if at+minLength > len(text) {
			continue
		}
		key := textHash(text[at:])
		if at >= skip {
			if longest := b.repetitions(c, text, at, int(b.last[key])-1); longest >= longEnough {
				skip = at + longest
			}
		}
		b.previous[at] = b.last[key]
		b.last[key] = uint16(at + 1)
	}
}

// textHash returns a number below 1<<hashBits for the first three bytes of a text.
func textHash(text string) uint32 {
	return (uint32(text[0]) | uint32(text[1])<<8 | uint32(text[2])<<16) * 0x9e3779b1 >> (32 - hashBits)
}

// repetitions tries the possible repetitions at a place, and returns the length of the longest.
func (b *blockWriter) repetitions(c *presetCode, text string, at, earlier int) (longest int) {
	longest = minLength - 1
	for tries := 0; earlier >= 0 && tries < maxTries && longest < longEnough; tries++ {
		if length := commonLength(text[earlier:], text[at:]); length > longest {
			symbol, _, extraBits := distanceSymbol(at - earlier)
			cost := b.steps[at].cost + uint32(c.distances[symbol].length+extraBits)
			for n := longest + 1; n <= length; n++ {
				b.reach(at+n, cost+c.cost[endOfText+n], n, at-earlier)
			}
			longest = length
		}
		earlier = int(b.previous[earlier]) - 1
	}
	return longest
}

// commonLength returns the length of the common prefix of two texts, maxLength at most. The second
// text is the shorter one.
func commonLength(a, b string) int {
	n := min(len(b), maxLength)
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// reach notes a step to a place if it is the cheapest so far.
func (b *blockWriter) reach(to int, cost uint32, length, distance int) {
	if cost < b.steps[to].cost {
		b.steps[to] = blockStep{cost, uint16(length), uint16(distance)}
	}
}

// turn reverses the steps of the encoding: b.steps[at] then has the step that leaves a place,
// instead of the one that arrives there.
func (b *blockWriter) turn(end int) {
	for arriving, at := b.steps[end], end; at > 0; {
		at -= int(arriving.length)
		b.steps[at], arriving = arriving, b.steps[at]
	}
}
