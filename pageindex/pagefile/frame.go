package pagefile

import (
	"bytes"

	"github.com/talkback/talkback/stream"
)

// FrameHead is the size of what a frame begins with, in bytes. Its first four are the length of the
// rest.
const FrameHead = 12

// AppendFrame appends items to a log, as one frame: length and checksum of what follows, the
// checksum of these two, and the items.
func AppendFrame(out []byte, items []Item) []byte {
	at := len(out)
	out = append(out, make([]byte, FrameHead)...)
	for _, i := range items {
		out = appendText16(out, i.Product)
		out = append(out, i.Position[:]...)
		out = appendCell(out, i.Cell)
		out = appendText16(out, string(i.Follows))
		out = big.AppendUint32(out, i.Seen)
	}
	head, body := out[at:at+FrameHead], out[at+FrameHead:]
	big.PutUint32(head, uint32(len(body)))
	big.PutUint32(head[4:], Checksum(body))
	big.PutUint32(head[8:], Checksum(head[:8]))
	return out
}

// ReadFrame reads the frame that a log goes on with. It returns the items, and the rest of the log.
// A frame that was cut off, as a crash leaves it, is torn: its items were never acknowledged. One
// that is there in full, but is not as it was written, is an ErrDamaged.
func ReadFrame(log []byte) (items []Item, rest []byte, torn bool, err error) {
	if len(log) < FrameHead || len(bytes.Trim(log, "\x00")) == 0 {
		return nil, log, true, nil
	}
	if Checksum(log[:8]) != big.Uint32(log[8:]) {
		return nil, log, false, damaged("the head of a frame of the log does not match its checksum")
	}
	length := int(big.Uint32(log))
	if length > len(log)-FrameHead {
		return nil, log, true, nil
	}
	body := log[FrameHead : FrameHead+length]
	if Checksum(body) != big.Uint32(log[4:]) {
		return nil, log, false, damaged("a frame of the log does not match its checksum")
	}
	for p := (&parser{rest: body}); len(p.rest) > 0; {
		items = append(items, p.item())
		if p.short {
			return nil, log, false, damaged("a frame of the log is not as long as it says")
		}
	}
	return items, log[FrameHead+length:], false, nil
}

func (p *parser) item() Item {
	return Item{Key: Key{p.text16(), p.position()}, Cell: p.cell(), Follows: stream.Position(p.text16()), Seen: p.u32()}
}
