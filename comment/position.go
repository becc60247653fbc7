package comment

import (
	"bytes"
	"encoding/base32"
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
	// Behind extraBytes zeros, the last 26 of 32 digits are the ULID. padding has those before it.
	extraBytes = 4
	padding    = "000000"
)

// digits are the digits of a ULID, 5 bits each.
var digits = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

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
func ParsePosition(text string) (p Position, err error) {
	if !p.read(text) {
		return Position{}, Errorf(BadInput, "%.40q is not a ULID: 26 characters 0-9 A-Z without I, L, O, U", text)
	}
	return p, nil
}

// read sets the position to that of a text, and reports whether the text is the canonical one of a
// ULID.
func (p *Position) read(text string) bool {
	if len(text) != positionLength {
		return false
	}
	var wide [extraBytes + len(p)]byte
	n, err := digits.Decode(wide[:], []byte(padding+text))
	copy(p[:], wide[extraBytes:])
	return err == nil && n == len(wide) && [extraBytes]byte(wide[:]) == [extraBytes]byte{} // fewer bytes if it skips a line break
}

// String returns the 26 characters of the ULID.
func (p Position) String() string {
	return digits.EncodeToString(append(make([]byte, extraBytes), p[:]...))[len(padding):]
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
func IDOf(p Position) ID { return ID(IDPrefix + p.String()) }

// IsID reports whether an ID is of a comment, not of a product. The comment may not exist, and
// the ID may be malformed.
func IsID(id string) bool { return strings.HasPrefix(id, IDPrefix) }

// ParseID returns a BadInput error unless text is the ID of a comment.
func ParseID(text string) (ID, error) {
	if !IsID(text) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: these start with %q", text, IDPrefix)
	}
	if !new(Position).read(text[len(IDPrefix):]) {
		return "", Errorf(BadInput, "%.40q is not the id of a comment: after %q comes a ULID, 26 characters 0-9 A-Z without I, L, O, U", text, IDPrefix)
	}
	return ID(text), nil
}

// Position returns the place of the comment in every list. For a malformed ID, which ParseID and
// IDOf do not return, it is the zero Position.
func (id ID) Position() (p Position) {
	if !p.read(strings.TrimPrefix(string(id), IDPrefix)) {
		return Position{}
	}
	return p
}
