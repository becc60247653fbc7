package comment

import (
	"encoding/binary"
	"strings"
	"time"
)

// Position is the place of a comment in every list: a ULID, which is a 48-bit count of milliseconds since 1970 followed
// by 80 bits that tell apart the comments of one millisecond (https://github.com/ulid/spec). Positions order as their
// bytes do, and so do their texts. The zero Position is the lowest one.
type Position [16]byte

// MaxPosition is the highest position.
var MaxPosition = Position{
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
}

const (
	positionLength = 26
	timeBytes      = 6
	// digits are those of a ULID, each 5 bits. Of the first one, 2 bits are over and always zero.
	digits     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	digitBits  = 5
	firstDigit = 7 // at most
)

// digitValues are the values of the digits, and noDigit for other characters.
var digitValues = func() (values [256]byte) {
	for c := range values {
		values[c] = noDigit
	}
	for value, c := range []byte(digits) {
		values[c] = byte(value)
	}
	return values
}()

const noDigit = 255

// FirstAt is the lowest position of the millisecond that t falls into; the year 1970 at the earliest, 10889 at the latest.
func FirstAt(t time.Time) Position {
	var p Position
	ms := min(max(t.UnixMilli(), 0), 1<<(8*timeBytes)-1)
	var wide [8]byte
	binary.BigEndian.PutUint64(wide[:], uint64(ms))
	copy(p[:timeBytes], wide[2:])
	return p
}

// PositionAt is the position of the millisecond that t falls into with the given bytes to tell it apart.
func PositionAt(t time.Time, distinct [10]byte) Position {
	p := FirstAt(t)
	copy(p[timeBytes:], distinct[:])
	return p
}

// ParsePosition reads the 26 characters that String writes: the canonical, upper-case text of a ULID.
func ParsePosition(text string) (Position, error) {
	if len(text) != positionLength || digitValues[text[0]] > firstDigit {
		return Position{}, notULID(text)
	}
	var high, low uint64
	for i := range positionLength {
		value := digitValues[text[i]]
		if value == noDigit {
			return Position{}, notULID(text)
		}
		high = high<<digitBits | low>>(64-digitBits)
		low = low<<digitBits | uint64(value)
	}
	var p Position
	binary.BigEndian.PutUint64(p[:8], high)
	binary.BigEndian.PutUint64(p[8:], low)
	return p, nil
}

func notULID(text string) error {
	return Errorf(BadInput, "%.40q is not a ULID: 26 characters 0-9 A-Z without I, L, O, U", text)
}

// String is the 26 characters of the ULID.
func (p Position) String() string {
	text := p.text()
	return string(text[:])
}

func (p Position) text() (text [positionLength]byte) {
	high, low := binary.BigEndian.Uint64(p[:8]), binary.BigEndian.Uint64(p[8:])
	for i := positionLength - 1; i >= 0; i-- {
		text[i] = digits[low%(1<<digitBits)]
		low = low>>digitBits | high<<(64-digitBits)
		high >>= digitBits
	}
	return text
}

// Time is the millisecond of the position, in UTC.
func (p Position) Time() time.Time {
	var wide [8]byte
	copy(wide[2:], p[:timeBytes])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(wide[:]))).UTC()
}

// Compare is negative when p is older than other, positive when it is newer, 0 when they are the same.
func (p Position) Compare(other Position) int { return strings.Compare(string(p[:]), string(other[:])) }

// Next is the position right above p. There is none above MaxPosition, which is then returned itself.
func (p Position) Next() Position {
	if p == MaxPosition {
		return p
	}
	for i := len(p) - 1; ; i-- {
		p[i]++
		if p[i] != 0 {
			return p
		}
	}
}

// Previous is the position right below p. There is none below the zero position, which is then returned itself.
func (p Position) Previous() Position {
	if p == (Position{}) {
		return p
	}
	for i := len(p) - 1; ; i-- {
		p[i]--
		if p[i] != 255 {
			return p
		}
	}
}

// ID is the id of a comment: IDPrefix and the text of its position.
type ID string

// IDPrefix begins the id of every comment, and that of nothing else.
const IDPrefix = "c_"

// IDOf is the id of the comment at p.
func IDOf(p Position) ID {
	text := p.text()
	return ID(IDPrefix + string(text[:]))
}

// IsID tells the id of a comment from that of a product. It does not say that such a comment exists, nor that the id is
// well-formed.
func IsID(id string) bool { return hasIDPrefix(id) }

func hasIDPrefix(id string) bool { return strings.HasPrefix(id, IDPrefix) }

// ParseID returns a BadInput error unless text is the id of a comment.
func ParseID(text string) (ID, error) {
	if !hasIDPrefix(text) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: these start with %q", text, IDPrefix)
	}
	if _, err := ParsePosition(text[len(IDPrefix):]); err != nil {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: after %q comes a ULID, 26 characters 0-9 A-Z without I, L, O, U", text, IDPrefix)
	}
	return ID(text), nil
}

// Position is the place of the comment in every list. The id must be well-formed, as ParseID and IDOf return it; of any
// other the answer is the zero Position.
func (id ID) Position() Position {
	p, err := ParsePosition(strings.TrimPrefix(string(id), IDPrefix))
	if err != nil {
		return Position{}
	}
	return p
}
