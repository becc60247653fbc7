package resolvers

// A cursor is a position in one list, as opaque text: 27 bytes in 36 characters of base64url.
//
//	 1 byte   version
//	16 bytes  position: the ULID of the comment
//	 6 bytes  fingerprint of the list: product, filter and order
//	 4 bytes  checksum of all before it
//
// A cursor of the other kind stands before the first comment of its list: it has another version,
// and a position of zeros.
//
// It does not depend on how the page was read, so it stays valid when the plan changes. It grants
// no access that its holder would not have without it, so it needs no secret. Checksum and
// fingerprint detect mistakes.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/talkback/talkback/comment"
)

const (
	cursorVersion     = 1
	startVersion      = 2 // before the first comment
	positionStart     = 1
	fingerprintStart  = positionStart + len(comment.Position{})
	fingerprintLength = 6
	checksumStart     = fingerprintStart + fingerprintLength
	cursorLength      = checksumStart + 4
	cursorText        = cursorLength / 3 * 4 // characters of base64
)

type fingerprint [fingerprintLength]byte

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// fingerprint returns a hash that tells lists apart. Each part is written with its end, so that it
// cannot run into the next. Cursors outlive releases: languages, ratings and dates are written for
// every list, in the form of the first release, and any other condition only if there is one.
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

// encodeStart returns the cursor behind a position, nil for the start of the list.
func encodeStart(after *comment.Position, f fingerprint) string {
	if after == nil {
		return encode(startVersion, []comment.Position{{}}, f)[0]
	}
	return encodeCursor(*after, f)
}

func encodeCursor(p comment.Position, f fingerprint) string {
	return encodeCursors([]comment.Position{p}, f)[0]
}

// encodeCursors returns the cursors of a page.
func encodeCursors(positions []comment.Position, f fingerprint) []string {
	return encode(cursorVersion, positions, f)
}

// encode returns cursors of one kind. All are parts of one string, which saves allocations: a page
// has many cursors.
func encode(version byte, positions []comment.Position, f fingerprint) []string {
	var raw [cursorLength]byte
	raw[0] = version
	copy(raw[fingerprintStart:], f[:])
	written := make([]byte, 0, len(positions)*cursorText)
	for _, p := range positions {
		copy(raw[positionStart:], p[:])
		binary.BigEndian.PutUint32(raw[checksumStart:], crc32.Checksum(raw[:checksumStart], castagnoli))
		written = base64.RawURLEncoding.AppendEncode(written, raw[:])
	}
	text, cursors := string(written), make([]string, len(positions))
	for i := range cursors {
		cursors[i] = text[i*cursorText : (i+1)*cursorText]
	}
	return cursors
}

// position reads a cursor of the list from an argument. It returns nil if none was given, and for
// the cursor before the first comment, which as after excludes nothing.
func (l list) position(argument string, cursor *string) (*comment.Position, error) {
	if cursor == nil || *cursor == "" { // a client that has no cursor yet may send an empty one
		return nil, nil
	}
	raw, whole := decodeCursor(*cursor)
	switch {
	case !whole:
		return nil, comment.Errorf(comment.BadCursor, "the cursor in %s was cut or edited: pass one exactly as an answer gave it, or none to start anew", argument)
	case raw[0] != cursorVersion && raw[0] != startVersion:
		return nil, comment.Errorf(comment.BadCursor, "the cursor in %s is of another version of this service: start anew without it", argument)
	case fingerprint(raw[fingerprintStart:checksumStart]) != l.fingerprint():
		return nil, comment.Errorf(comment.BadCursor, "the cursor in %s is of another list: pass it with the product, filter and order that it came with, or start anew without it", argument)
	}
	if raw[0] == startVersion {
		if argument != "after" {
			return nil, comment.Errorf(comment.BadCursor, "the cursor in %s stands before the first comment, so nothing comes before it: pass it as after", argument)
		}
		return nil, nil
	}
	p := comment.Position(raw[positionStart:fingerprintStart])
	return &p, nil
}

// decodeCursor returns the bytes of a cursor, and reports whether they are whole. It checks the
// length of the text as well, since the base64 decoder skips line breaks.
func decodeCursor(cursor string) (raw []byte, whole bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(raw) != cursorLength || len(cursor) != cursorText {
		return nil, false
	}
	return raw, binary.BigEndian.Uint32(raw[checksumStart:]) == crc32.Checksum(raw[:checksumStart], castagnoli)
}
