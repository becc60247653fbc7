package comment

import "cmp"

// Cell identifies a cell of the statistics: the comments of one language, rating and set of traits.
type Cell struct {
	// Language is canonical.
	Language Language
	// Rating is 1 to MaxRating.
	Rating int
	// Traits is the set of traits.
	Traits Traits
}

// Cell returns the cell of the comment.
func (c Comment) Cell() Cell {
	return Cell{Language: c.Language, Rating: c.Rating, Traits: c.Traits()}
}

// Compare orders cells by language, then by rating and traits.
func (c Cell) Compare(other Cell) int {
	return cmp.Or(cmp.Compare(c.Language, other.Language), cmp.Compare(c.Code(), other.Code()))
}

// traitsShift is the number of bits below the traits in the code of a cell. They hold the rating.
const traitsShift = 3

// MaxCellCode is the highest code of a cell; the lowest is 1. Codes of cells without traits are at
// most MaxRating.
const MaxCellCode = MaxRating + (TraitSets-1)<<traitsShift

// Code returns the rating and the traits as one number. A cell is stored as its language and this
// number.
func (c Cell) Code() int { return c.Rating | int(c.Traits)<<traitsShift }

// CellOf returns the cell of a language with a code, and false if no cell has that code.
func CellOf(language Language, code int) (Cell, bool) {
	cell := Cell{Language: language, Rating: code & (1<<traitsShift - 1), Traits: Traits(code >> traitsShift)}
	return cell, code >= 1 && code <= MaxCellCode && cell.Rating >= 1 && cell.Rating <= MaxRating
}
