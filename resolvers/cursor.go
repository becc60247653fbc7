package resolvers

// A cursor is a place in one list, as opaque text: 27 bytes in 36 characters of base64url.
//
//	 1 byte   version
//	16 bytes  position: the ULID of the comment
//	 6 bytes  fingerprint of the list: product, filter and order
//	 4 bytes  checksum of all before it
//
// In orders that give comments a key, the version is another and 4 bytes with the key follow it: 31
// bytes in 42 characters.
//
// The cursor before the first comment of a list has a third version, and a position of zeros.
//
// It does not depend on how the page was read, so it stays valid when the plan changes. It grants
// no access that its holder would not have without it, so it needs no secret. Checksum and
// fingerprint detect mistakes.

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/talkback/talkback/comment"
)

const (
	cursorVersion = 1
	startVersion  = 2 // before the first comment
	keyedVersion  = 3

	fingerprintLength = 6
	keyLength         = 4
	cursorLength      = 1 + len(comment.Position{}) + fingerprintLength + crc32.Size
)

type fingerprint [fingerprintLength]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint returns a hash that tells lists apart. Each part is delimited, so that it cannot run
// into the next. Cursors outlive releases: languages, ratings and dates are written for every list,
// in the form of the first release, and any other condition only if there is one.
func (l list) fingerprint() fingerprint {
	h := sha256.New()
	fmt.Fprintf(h, "%q %s %q %d %d %d", l.product, l.order, l.filter.Languages, l.filter.Ratings,
		millisecond(l.filter.CreatedAfter), millisecond(l.filter.CreatedBefore))
	for _, condition := range l.filter.Conditions() {
		if condition.Attribute != comment.OfLanguage && condition.Attribute != comment.OfRating {
			fmt.Fprintf(h, " %s %q", condition.Attribute, condition.Values)
		}
	}
	return fingerprint(h.Sum(nil)[:fingerprintLength])
}

// millisecond returns a time as the filter compares it. Nil differs from every time.
func millisecond(t *time.Time) []int64 {
	if t == nil {
		return nil
	}
	return []int64{t.UnixMilli()}
}

// cursor returns the cursor behind a place, nil for the start of the list.
func (l list) cursor(after *comment.Place, f fingerprint) string {
	raw, place := []byte{cursorVersion}, *cmp.Or(after, new(comment.Place))
	switch {
	case after == nil:
		raw[0] = startVersion
	case l.order.Keyed():
		raw[0] = keyedVersion
		raw = binary.BigEndian.AppendUint32(raw, uint32(place.Key))
	}
	raw = append(append(raw, place.Position[:]...), f[:]...)
	raw = binary.BigEndian.AppendUint32(raw, crc32.Checksum(raw, castagnoli))
	return base64.RawURLEncoding.EncodeToString(raw)
}

// place reads a cursor of the list from an argument. It returns nil if cursor is nil or empty.
// It also does for the cursor before the first comment, which excludes nothing in after.
func (l list) place(argument string, cursor *string) (*comment.Place, error) {
	if cursor == nil || *cursor == "" { // a client that has no cursor yet may send an empty one
		return nil, nil
	}
	version, place, of, err := decode(*cursor)
	switch {
	case err != nil:
		return nil, comment.Errorf(comment.BadCursor, "the cursor in %s %v", argument, err)
	case of != l.fingerprint(), version != startVersion && (version == keyedVersion) != l.order.Keyed():
		return nil, comment.Errorf(comment.BadCursor, "the cursor in %s is of another list: pass it with the product, filter and order that it came with, or start anew without it", argument)
	}
	if version == startVersion {
		if argument != "after" {
			return nil, comment.Errorf(comment.BadCursor, "the cursor in %s stands before the first comment, so nothing comes before it: pass it as after", argument)
		}
		return nil, nil
	}
	return &place, nil
}

var (
	errCut     = errors.New("was cut or edited: pass one exactly as an answer gave it, or none to start anew")
	errVersion = errors.New("is of another version of this service: start anew without it")
)

// decode returns the parts of a cursor. It compares the length of the text as well, since the
// base64 decoder skips line breaks.
func decode(cursor string) (version byte, place comment.Place, of fingerprint, err error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) < cursorLength || len(cursor) != base64.RawURLEncoding.EncodedLen(len(raw)) {
		return 0, place, of, errCut
	}
	rest, sum := raw[:len(raw)-crc32.Size], binary.BigEndian.Uint32(raw[len(raw)-crc32.Size:])
	version = raw[0]
	length := cursorLength
	if version == keyedVersion {
		length += keyLength
	}
	switch {
	case sum != crc32.Checksum(rest, castagnoli):
		return 0, place, of, errCut
	case version < cursorVersion || version > keyedVersion:
		return 0, place, of, errVersion
	case len(raw) != length:
		return 0, place, of, errCut
	}
	rest = rest[1:]
	if version == keyedVersion {
		place.Key, rest = int32(binary.BigEndian.Uint32(rest)), rest[keyLength:]
	}
	copy(of[:], rest[copy(place.Position[:], rest):])
	return version, place, of, nil
}

// list is a whole list of comments, to which cursors belong.
type list struct {
	product string
	filter  comment.Filter // normalized
	order   comment.Order
}
