package objects

import "github.com/talkback/talkback/stream"

// frameHead is the size of what a frame begins with, in bytes: the length of the rest (4), and its
// checksum (4).
const frameHead = 8

// encodeFrame returns items as one frame: a log, or a piece of a sorted file.
func encodeFrame(items []Item) []byte {
	frame := make([]byte, frameHead)
	for _, i := range items {
		frame = appendText16(frame, i.Product)
		frame = append(frame, i.Position[:]...)
		frame = appendCell(frame, i.Cell)
		frame = appendText16(frame, string(i.Follows))
		frame = big.AppendUint32(frame, i.Seen)
	}
	body := frame[frameHead:]
	big.PutUint32(frame, uint32(len(body)))
	big.PutUint32(frame[4:], crcOf(body))
	return frame
}

// decodeFrame returns the items of a frame. One that is not as it was written is an errDamaged.
func decodeFrame(frame []byte) ([]Item, error) {
	p := &parser{rest: frame}
	if length, crc := int(p.u32()), p.u32(); p.short || length != len(p.rest) || crc != crcOf(p.rest) {
		return nil, damaged("the checksum of changes does not match")
	}
	var items []Item
	for len(p.rest) > 0 {
		items = append(items, Item{Key: Key{p.text16(), p.position()}, Cell: p.cell(), Follows: stream.Position(p.text16()), Seen: p.u32()})
	}
	if p.short {
		return nil, damaged("a change is not as long as it says")
	}
	return items, nil
}
