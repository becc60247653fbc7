package layout

import "encoding/binary"

// bitReader reads bits, the first one lowest. It is a small value, which the compiler keeps in
// registers.
type bitReader struct {
	next uint64 // the bits that were read and not yet taken, the first one lowest
	have uint   // how many bits next has, modulo 64: only the lowest 6 bits of have count
	at   int    // the index of the byte behind them
}

// longestRead is how many bytes behind the text fill may read, as long as rest is not negative.
const longestRead = 16

// fill returns the reader with 56 bits or more.
func (r bitReader) fill(in []byte) bitReader {
	return bitReader{
		next: r.next | binary.LittleEndian.Uint64(in[r.at:])<<(r.have%64),
		have: r.have | 56,
		at:   r.at + int(^r.have>>3&7),
	}
}

// skip returns the reader behind the next n bits, modulo 64: n may be a whole entry.
func (r bitReader) skip(n uint) bitReader {
	return bitReader{next: r.next >> (n % 64), have: r.have - n, at: r.at}
}

// rest returns how many of all bits of a text are left; it is negative if more were taken.
func (r bitReader) rest(all int) int { return all - 8*r.at + int(r.have%64) }

// bitWriter appends bits, the first one lowest.
type bitWriter struct {
	out  []byte
	bits uint64
	have uint8
}

func (w *bitWriter) word(word codeWord) { w.write(uint32(word.bits), word.length) }

func (w *bitWriter) write(bits uint32, n uint8) {
	w.bits |= uint64(bits) << w.have
	if w.have += n; w.have >= 32 {
		w.out = binary.LittleEndian.AppendUint32(w.out, uint32(w.bits))
		w.bits >>= 32
		w.have -= 32
	}
}

// close returns the bytes, the last one filled up with zeros.
func (w *bitWriter) close() []byte {
	for ; w.have > 0; w.have -= min(w.have, 8) {
		w.out = append(w.out, byte(w.bits))
		w.bits >>= 8
	}
	return w.out
}
