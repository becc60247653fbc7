package deflate

import "encoding/binary"

// bitReader reads bits, the first one lowest.
type bitReader struct {
	in   []byte // ends with longestRead bytes that are no part of the text
	all  int    // number of bits of the text
	at   int    // where in goes on behind the bits that have counts
	have uint   // how many bits of next were read and not yet taken
	next uint64
}

// longestRead is how many bytes behind the text fill may read, as long as rest is not negative.
const longestRead = 16

// fill makes sure that next has the next 56 bits.
func (r *bitReader) fill() {
	r.next |= binary.LittleEndian.Uint64(r.in[r.at:]) << r.have
	r.at += int(63-r.have) >> 3
	r.have |= 56
}

func (r *bitReader) skip(n uint) {
	r.next >>= n
	r.have -= n
}

func (r *bitReader) take(n uint) int {
	value := int(r.next & (1<<n - 1))
	r.skip(n)
	return value
}

// rest returns how many bits of the text are left, below 0 if more were taken than it has.
func (r *bitReader) rest() int { return r.all - 8*r.at + int(r.have) }

// ended reports whether the last byte was reached.
func (r *bitReader) ended() bool { return r.rest() >= 0 && r.rest() < 8 }

// bitWriter appends bits, the first one lowest.
type bitWriter struct {
	out  []byte
	bits uint64
	have uint8
}

func (w *bitWriter) word(word word) { w.write(uint32(word.bits), word.length) }

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
