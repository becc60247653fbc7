package layout

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"github.com/talkback/talkback/comment"
)

// Bounds are stored beside the statistics that they belong to, and as short as that allows: which
// ratings and cells have comments stands there. A version and a byte of flags are followed by the
// position of each rating that has comments, 16 bytes, and then by the seconds of each cell that
// has, 4 bytes, languages in the order of their tags.
const (
	boundsVersion = 1
	boundsHead    = 2
	positionBytes = len(comment.Position{})
	secondsBytes  = 4
	// The flags: a bit for each rating whose bound is exact, and one if there are cells.
	withCells byte = 1 << 7
)

// Encode returns the bounds as they are stored beside statistics. It leaves out the cells if the
// result would have more bytes than most. Nil bounds and those of a product without comments are
// nil.
func (b *Bounds) Encode(stats comment.Stats, most int) []byte {
	if b == nil || cellsOf(stats) == 0 {
		return nil
	}
	out := []byte{boundsVersion, 0}
	for i, n := range stats.Counts(comment.Filter{}) {
		if n == 0 {
			continue
		}
		out = append(out, b.ratings[i].Position[:]...)
		if b.ratings[i].Exact {
			out[1] |= 1 << i
		}
	}
	if b.cells == nil || len(out)+secondsBytes*cellsOf(stats) > most {
		return out
	}
	out[1] |= withCells
	for _, language := range languagesOf(stats) {
		for i, n := range stats[language].Counts {
			if n != 0 {
				out = binary.BigEndian.AppendUint32(out, uint32(b.cells[language][i]))
			}
		}
	}
	return out
}

// errDamaged is for bytes that Encode did not write beside the same statistics.
var errDamaged = errors.New("the positions of the newest comments do not belong to these statistics")

// DecodeBounds reads what Encode returned. It returns nil bounds for no bytes.
func DecodeBounds(from []byte, stats comment.Stats) (*Bounds, error) {
	if len(from) == 0 {
		return nil, nil
	}
	b, rest, err := decodeRatings(from, stats.Counts(comment.Filter{}))
	if err != nil {
		return nil, err
	}
	if from[1]&withCells == 0 {
		if len(rest) > 0 {
			return nil, errDamaged
		}
		return b, nil
	}
	if len(rest) != secondsBytes*cellsOf(stats) {
		return nil, errDamaged
	}
	b.cells = make(map[comment.Language]row, len(stats))
	for _, language := range languagesOf(stats) {
		var times row
		for i, n := range stats[language].Counts {
			if n != 0 {
				times[i], rest = seconds(binary.BigEndian.Uint32(rest)), rest[secondsBytes:]
			}
		}
		b.cells[language] = times
	}
	return b, nil
}

// decodeRatings reads the bounds of the ratings that have comments.
func decodeRatings(from []byte, counts comment.Counts) (b *Bounds, rest []byte, err error) {
	if len(from) < boundsHead || from[0] != boundsVersion {
		return nil, nil, errDamaged
	}
	b, rest = &Bounds{}, from[boundsHead:]
	for i, n := range counts {
		exact := from[1]&(1<<i) != 0
		switch {
		case n == 0 && exact, n != 0 && len(rest) < positionBytes:
			return nil, nil, errDamaged
		case n != 0:
			b.ratings[i] = Bound{Position: comment.Position(rest[:positionBytes]), Exact: exact}
			rest = rest[positionBytes:]
		}
	}
	return b, rest, nil
}

// cellsOf returns the number of cells that have comments.
func cellsOf(stats comment.Stats) int {
	cells := 0
	for _, row := range stats {
		for _, n := range row.Counts {
			if n != 0 {
				cells++
			}
		}
	}
	return cells
}

func languagesOf(stats comment.Stats) []comment.Language { return slices.Sorted(maps.Keys(stats)) }
