package layout

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/talkback/talkback/comment"
)

// Bounds are upper bounds of how new the comments of a product are. They hold a position for each
// rating, and a time for each language and rating. A counted comment raises them. A deleted or
// moved one leaves them as they are, because the next newest is unknown. So the newest comment may
// be older than its bound.
//
// The zero value is for a product without comments. With a nil *Bounds, nothing is known. Do not
// change shared Bounds.
type Bounds struct {
	ratings [comment.MaxRating]Bound
	// cells are nil if they were not stored.
	cells map[comment.Language]row
}

// Bound is an upper bound of the positions of some comments.
type Bound struct {
	// Position is the zero Position if there are no such comments.
	Position comment.Position
	// Exact is whether the newest of these comments is at Position.
	Exact bool
}

// row has the seconds of a language by rating.
type row [comment.MaxRating]seconds

// Clone returns a copy that may be changed; nil for nil.
func (b *Bounds) Clone() *Bounds {
	if b == nil {
		return nil
	}
	return &Bounds{ratings: b.ratings, cells: maps.Clone(b.cells)}
}

// Enter notes that the comment at a position is now counted in a cell. The cell's language is that
// of a row of the product's statistics. before is how many comments the cell had before. Nil bounds
// stay nil.
func (b *Bounds) Enter(cell comment.Cell, before int, at comment.Position) {
	if b == nil {
		return
	}
	rating := &b.ratings[cell.Rating-1]
	if at.Compare(rating.Position) >= 0 {
		*rating = Bound{Position: at, Exact: true}
	}
	if b.cells == nil {
		b.cells = map[comment.Language]row{}
	}
	row := b.cells[cell.Language]
	known := &row[cell.Rating-1]
	switch {
	case before == 0 || at == rating.Position:
		*known = secondsOf(at)
	case *known != unknownSeconds:
		*known = max(*known, secondsOf(at))
	}
	b.cells[cell.Language] = row
}

// Leave notes that the comment at a position is no longer counted with a rating. left is how many
// comments of that rating are left, in all languages.
func (b *Bounds) Leave(rating, left int, at comment.Position) {
	if b == nil {
		return
	}
	bound := &b.ratings[rating-1]
	switch {
	case left == 0:
		*bound = Bound{}
	case at == bound.Position:
		bound.Exact = false
	}
}

// Rated returns the bound of the comments with one of some ratings; of all if ratings is empty.
func (b *Bounds) Rated(ratings []int) Bound {
	var highest Bound
	for i, bound := range b.ratings {
		if allows(ratings, i+1) && bound.Position.Compare(highest.Position) > 0 {
			highest = bound
		}
	}
	return highest
}

// Of returns an upper bound of the positions of the comments that a filter allows, ignoring its
// dates; the zero Position if there are none. stats are the statistics of the bounds.
func (b *Bounds) Of(filter comment.Filter, stats comment.Stats) comment.Position {
	if len(filter.Languages) == 0 {
		return b.Rated(filter.Ratings).Position
	}
	var highest comment.Position
	rows := filter.Languages
	if len(stats.Others(rows)) > 0 {
		rows = append([]comment.Language{comment.OtherLanguages}, rows...)
	}
	for _, language := range rows {
		for i, n := range stats[language].Counts {
			if n == 0 || !allows(filter.Ratings, i+1) {
				continue
			}
			if bound := b.cell(language, i); bound.Compare(highest) > 0 {
				highest = bound
			}
		}
	}
	return highest
}

// cell returns the bound of a cell with comments: the lower one of its own and that of its rating.
func (b *Bounds) cell(language comment.Language, rating int) comment.Position {
	bound, known := b.ratings[rating].Position, b.cells[language][rating]
	if last := known.last(); known != unknownSeconds && last.Compare(bound) < 0 {
		return last
	}
	return bound
}

func allows(ratings []int, rating int) bool {
	return comment.Filter{Ratings: ratings}.AllowsCell(comment.Cell{Rating: rating})
}

// In returns the bounds for statistics in which rare languages share a row. The receiver has a row
// for each language.
func (b *Bounds) In(stats comment.Stats) *Bounds {
	arranged := &Bounds{ratings: b.ratings, cells: map[comment.Language]row{}}
	for language, times := range b.cells {
		if _, own := stats[language]; !own {
			language = comment.OtherLanguages
		}
		shared := arranged.cells[language]
		for i, s := range times {
			shared[i] = max(shared[i], s)
		}
		arranged.cells[language] = shared
	}
	return arranged
}

// Below compares the bounds with the correct ones. It returns a cell of the statistics whose bound
// is too low; found is false if there is none. The cell has no language if the bound of its whole
// rating is wrong.
func (b *Bounds) Below(right *Bounds, stats comment.Stats) (cell comment.Cell, found bool) {
	for i, bound := range right.ratings {
		if b.ratings[i].Position.Compare(bound.Position) < 0 || b.ratings[i].Exact && b.ratings[i].Position != bound.Position {
			return comment.Cell{Rating: i + 1}, true
		}
	}
	for language, row := range stats {
		for i, n := range row.Counts {
			if n > 0 && b.cell(language, i).Compare(right.cell(language, i)) < 0 {
				return comment.Cell{Language: language, Rating: i + 1}, true
			}
		}
	}
	return comment.Cell{}, false
}

// seconds is the bound of a cell: the number of the first second since 1970 that is newer than all
// of its comments. From the year 2106 on it bounds nothing.
type seconds uint32

const (
	// unknownSeconds is stored for a cell with comments but without a bound.
	unknownSeconds seconds = 0
	endless        seconds = math.MaxUint32
)

func secondsOf(p comment.Position) seconds {
	return seconds(min(p.Time().Unix()+1, int64(endless)))
}

// last returns the last position that the bound allows.
func (s seconds) last() comment.Position {
	if s == endless {
		return comment.MaxPosition
	}
	return comment.FirstAt(time.Unix(int64(s), 0)).Previous()
}

// Bounds are stored beside their statistics, which say which ratings and cells have comments. The
// encoding is a version, a byte of flags, the position of each rating with comments (16 bytes), and
// the seconds of each cell with comments (4 bytes). Languages are in the order of their tags.
const (
	boundsVersion = 1
	boundsHead    = 2
	positionBytes = len(comment.Position{})
	secondsBytes  = 4
	// The flags: a bit for each rating whose bound is exact, and one if there are cells.
	withCells byte = 1 << 7
)

// Encode returns the bounds as stored beside statistics. It leaves out the cells if the result
// would have more bytes than most. It returns nil for nil bounds and for a product without
// comments.
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
	for _, language := range slices.Sorted(maps.Keys(stats)) {
		for i, n := range stats[language].Counts {
			if n != 0 {
				out = binary.BigEndian.AppendUint32(out, uint32(b.cells[language][i]))
			}
		}
	}
	return out
}

// errDamaged is for bytes that Encode cannot have written beside these statistics.
var errDamaged = errors.New("the positions of the newest comments do not belong to these statistics")

// DecodeBounds decodes the result of Encode. It returns nil bounds for no bytes.
func DecodeBounds(from []byte, stats comment.Stats) (*Bounds, error) {
	if len(from) == 0 {
		return nil, nil
	}
	if len(from) < boundsHead || from[0] != boundsVersion {
		return nil, errDamaged
	}
	b, rest := &Bounds{}, from[boundsHead:]
	for i, n := range stats.Counts(comment.Filter{}) {
		exact := from[1]&(1<<i) != 0
		switch {
		case n == 0 && exact, n != 0 && len(rest) < positionBytes:
			return nil, errDamaged
		case n != 0:
			b.ratings[i] = Bound{Position: comment.Position(rest[:positionBytes]), Exact: exact}
			rest = rest[positionBytes:]
		}
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
	for _, language := range slices.Sorted(maps.Keys(stats)) {
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

// cellsOf returns the number of cells with comments.
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
