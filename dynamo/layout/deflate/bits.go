package deflate

import "encoding/binary"

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
