package comment

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
)

// Position is the place of a comment in every list. It is a ULID: a 48-bit count of milliseconds
// since 1970, followed by 80 bits that distinguish the comments of one millisecond
// (https://github.com/ulid/spec). Positions sort like their bytes and like their texts. The zero
// Position is the lowest.
type Position [16]byte

// MaxPosition is the highest position.
var MaxPosition = Position{
	255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
}

const (
	positionLength = 26
	timeBytes      = 6
	timeDigits     = 10 // 50 bits, 2 more than timeBytes; these are always zero
	// digits are the digits of a ULID, 5 bits each. The highest 2 bits of the first digit are always
	// zero.
	digits     = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	digitBits  = 5
	firstDigit = 7 // at most
)

// digitValues maps each digit to its value, and other characters to noDigit.
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

// FirstAt returns the lowest position of the millisecond of t, with the year 1970 as the earliest
// and 10889 as the latest.
func FirstAt(t time.Time) Position {
	var p Position
	ms := min(max(t.UnixMilli(), 0), 1<<(8*timeBytes)-1)
	var wide [8]byte
	binary.BigEndian.PutUint64(wide[:], uint64(ms))
	copy(p[:timeBytes], wide[2:])
	return p
}

// PositionAt returns the position of the millisecond of t, with the given bytes to distinguish it.
func PositionAt(t time.Time, distinct [10]byte) Position {
	p := FirstAt(t)
	copy(p[timeBytes:], distinct[:])
	return p
}

// ParsePosition reads the 26 characters that String writes: the canonical, upper-case text of a
// ULID.
func ParsePosition(text string) (Position, error) {
	if !isULID(text) {
		return Position{}, Errorf(BadInput, "%.40q is not a ULID: 26 characters 0-9 A-Z without I, L, O, U", text)
	}
	high := number(text[:positionLength/2])
	middle := digitValues[text[positionLength/2]]
	low := number(text[positionLength/2:])
	var p Position
	binary.BigEndian.PutUint64(p[:8], high<<1|uint64(middle>>(digitBits-1)))
	binary.BigEndian.PutUint64(p[8:], low)
	return p, nil
}

// number returns the lowest 64 bits of the number that text spells. The first 13 digits of a ULID
// fit; of the last 13, the highest bit is dropped.
func number(text string) (value uint64) {
	for i := range len(text) {
		value = value<<digitBits | uint64(digitValues[text[i]])
	}
	return value
}

// isULID reports whether a text is the canonical one of a ULID.
func isULID(text string) bool {
	if len(text) != positionLength || digitValues[text[0]] > firstDigit {
		return false
	}
	all := byte(0)
	for i := range len(text) {
		all |= digitValues[text[i]]
	}
	return all < 1<<digitBits
}

// String returns the 26 characters of the ULID.
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

// Time returns the millisecond of the position, in UTC.
func (p Position) Time() time.Time {
	var wide [8]byte
	copy(wide[2:], p[:timeBytes])
	return time.UnixMilli(int64(binary.BigEndian.Uint64(wide[:]))).UTC()
}

// Compare returns a negative number if p is older than other, a positive one if it is newer, and 0
// if they are equal.
func (p Position) Compare(other Position) int { return bytes.Compare(p[:], other[:]) }

// Next returns the position right above p. For MaxPosition it returns MaxPosition.
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

// Previous returns the position right below p. For the zero position it returns the zero position.
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

// ID is the ID of a comment: IDPrefix and the text of its position.
type ID string

// IDPrefix starts the ID of every comment, and no other ID.
const IDPrefix = "c_"

// IDOf returns the ID of the comment at p.
func IDOf(p Position) ID {
	text := p.text()
	return ID(IDPrefix + string(text[:]))
}

// IsID reports whether an ID is that of a comment, not of a product. The comment may not exist, and
// the ID may be malformed.
func IsID(id string) bool { return strings.HasPrefix(id, IDPrefix) }

// ParseID returns a BadInput error unless text is the ID of a comment.
func ParseID(text string) (ID, error) {
	if !IsID(text) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: these start with %q", text, IDPrefix)
	}
	if !isULID(text[len(IDPrefix):]) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: after %q comes a ULID, 26 characters 0-9 A-Z without I, L, O, U", text, IDPrefix)
	}
	return ID(text), nil
}

// Position returns the place of the comment in every list. For a malformed ID, which ParseID and
// IDOf do not return, it is the zero Position.
func (id ID) Position() Position {
	p, err := ParsePosition(strings.TrimPrefix(string(id), IDPrefix))
	if err != nil {
		return Position{}
	}
	return p
}

// time returns the time of the Position without reading the digits behind it. For a malformed ID
// the time is arbitrary.
func (id ID) time() time.Time {
	text := strings.TrimPrefix(string(id), IDPrefix)
	if len(text) != positionLength {
		return Position{}.Time()
	}
	return time.UnixMilli(int64(number(text[:timeDigits]))).UTC()
}
