package objects

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/pageindex"
	"github.com/talkback/talkback/stream"
)

// errDamaged is the error of a file whose bytes are not those that were written.
var errDamaged = errors.New("a file of the page index is damaged")

func damaged(how string) error { return fmt.Errorf("%w: %s", errDamaged, how) }

// Key orders the comments of all products: by product id, then by position.
type Key struct {
	Product  string
	Position comment.Position
}

// Compare returns a negative number if k comes before other, a positive one if it comes after, and 0
// if they are equal.
func (k Key) Compare(other Key) int {
	return cmp.Or(strings.Compare(k.Product, other.Product), k.Position.Compare(other.Position))
}

// Item says in which cell one comment counts.
type Item struct {
	Key
	// Cell is the comment's cell. A deleted comment has rating 0.
	Cell comment.Cell
	// Follows is that of the entry. It is empty once no older entry can come.
	Follows stream.Position
	// Seen is when the entry came, in seconds since 1970.
	Seen uint32
}

// There reports whether the comment exists.
func (i Item) There() bool { return i.Cell.Code() != 0 }

// Guarded reports whether an older entry may still come.
func (i Item) Guarded() bool { return i.Follows != "" }

// longestText is the maximum size of a product's id and of Follows, in bytes. Real ones are far
// shorter.
const longestText = 1 << 10

// itemsOf turns entries that came at a time into items. An entry that cannot be stored is a
// BadInput error.
func itemsOf(entries []pageindex.Entry, now time.Time) ([]Item, error) {
	out := make([]Item, 0, len(entries))
	for _, e := range entries {
		item := Item{Key: Key{Product: e.Product, Position: e.Position}, Follows: e.Follows, Seen: uint32(now.Unix())}
		if e.Cell != nil {
			item.Cell = *e.Cell
			if item.Cell.Code() < 1 || item.Cell.Code() > comment.MaxCellCode || len(item.Cell.Language) > 255 {
				return nil, comment.Errorf(comment.BadInput, "a comment with rating %d has no place in a page index: ratings are 1 to %d", item.Cell.Rating, comment.MaxRating)
			}
		}
		if len(e.Product) > longestText || len(e.Follows) > longestText {
			return nil, comment.Errorf(comment.BadInput, "a product's id or the position of a record is longer than %d bytes", longestText)
		}
		out = append(out, item)
	}
	return out, nil
}

// frameHead is the size of the head of a frame, in bytes: the length of the rest (4), and its
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

// decodeFrame returns the items of a frame. A damaged one is an errDamaged.
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
