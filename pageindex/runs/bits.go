package runs

import "math/bits"

// bitWriter appends bits, the highest of a byte first.
type bitWriter struct {
	out  []byte
	free int // bits of the last byte that are not written yet
}

func (w *bitWriter) bit(set bool) {
	if w.free == 0 {
		w.out, w.free = append(w.out, 0), 8
	}
	w.free--
	if set {
		w.out[len(w.out)-1] |= 1 << w.free
	}
}

// bits writes the lowest width bits of a number.
func (w *bitWriter) bits(n, width int) {
	for i := width - 1; i >= 0; i-- {
		w.bit(n>>i&1 == 1)
	}
}

// gamma writes a positive number: as many zeros as it has bits after the first, then its bits.
func (w *bitWriter) gamma(n uint64) {
	for range bits.Len64(n) - 1 {
		w.bit(false)
	}
	w.bits(int(n), bits.Len64(n))
}

// bitReader reads bits of a decoder's input.
type bitReader struct {
	*decoder
	at int
}

func (r *bitReader) bit() bool {
	if r.at/8 >= len(r.rest) {
		r.fail()
		return true // ends a run of zeros
	}
	b := r.rest[r.at/8]>>(7-r.at%8)&1 == 1
	r.at++
	return b
}

func (r *bitReader) bits(width int) (n int) {
	for range width {
		n <<= 1
		if r.bit() {
			n |= 1
		}
	}
	return n
}

// end moves the decoder behind the last byte that was read from.
func (r *bitReader) end() { r.rest = r.rest[min((r.at+7)/8, len(r.rest)):] }

// maxGammaBits bounds a count, so that it fits an int.
const maxGammaBits = 62

func (r *bitReader) gamma() uint64 {
	zeros := 0
	for !r.bit() {
		zeros++
	}
	width := min(zeros, maxGammaBits)
	n := 1<<width | r.bits(width)
	if zeros > maxGammaBits || r.err != nil {
		r.fail()
		return 1
	}
	return uint64(n)
}
