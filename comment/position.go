package comment

import (
	"encoding/base32"
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
	// A ULID is 128 bits in 26 characters of 5 bits, right-aligned. Base32 works left-aligned on groups of 5 bytes, so
	// four zero bytes go before the 16, and the six characters that they become are cut off.
	padBytes = 4
	padText  = "000000"
)

var crockford = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

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
	var p Position
	wide, err := crockford.DecodeString(padText + text)
	// Line breaks, which base32 skips, leave too few bytes. The first character has room for 5 bits and stands for 3: a
	// larger one runs over into the padding.
	if len(text) != positionLength || err != nil || len(wide) != padBytes+len(p) || [padBytes]byte(wide) != [padBytes]byte{} {
		return p, Errorf(BadInput, "%.40q is not a ULID: 26 characters 0-9 A-Z without I, L, O, U", text)
	}
	copy(p[:], wide[padBytes:])
	return p, nil
}

// String is the 26 characters of the ULID.
func (p Position) String() string {
	var wide [padBytes + len(p)]byte
	copy(wide[padBytes:], p[:])
	return crockford.EncodeToString(wide[:])[len(padText):]
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

// ID is the id of a comment: "c_" and the text of its position.
type ID string

const idPrefix = "c_"

// IDOf is the id of the comment at p.
func IDOf(p Position) ID { return ID(idPrefix + p.String()) }

// IsID tells the id of a comment from that of a product. It does not say that such a comment exists, nor that the id is
// well-formed.
func IsID(id string) bool { return hasIDPrefix(id) }

func hasIDPrefix(id string) bool { return strings.HasPrefix(id, idPrefix) }

// ParseID returns a BadInput error unless text is the id of a comment.
func ParseID(text string) (ID, error) {
	if !hasIDPrefix(text) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: these start with %q", text, idPrefix)
	}
	if _, err := ParsePosition(text[len(idPrefix):]); err != nil {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: after %q comes a ULID, 26 characters 0-9 A-Z without I, L, O, U", text, idPrefix)
	}
	return ID(text), nil
}

// Position is the place of the comment in every list. The id must be well-formed, as ParseID and IDOf return it; of any
// other the answer is the zero Position.
func (id ID) Position() Position {
	p, err := ParsePosition(strings.TrimPrefix(string(id), idPrefix))
	if err != nil {
		return Position{}
	}
	return p
}
