package comment

import "cmp"

// Cell is what a comment is counted as: a cell of the grid of languages, ratings and sets of
// traits.
type Cell struct {
	// Language is canonical.
	Language Language
	// Rating is 1 to MaxRating.
	Rating int
	// Traits are those of the comment.
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

// traitsShift is by how many bits the traits stand above the rating in the code of a cell.
const traitsShift = 3

// MaxCellCode is the highest code of a cell; the lowest is 1. Codes of cells without traits are at
// most MaxRating.
const MaxCellCode = MaxRating + (TraitSets-1)<<traitsShift

// Code returns what the cell is beside its language, as one number. What is stored of a cell is its
// language and this number.
func (c Cell) Code() int { return c.Rating | int(c.Traits)<<traitsShift }

// CellOf returns the cell of a language with a code, and false if no cell has that code.
func CellOf(language Language, code int) (Cell, bool) {
	cell := Cell{Language: language, Rating: code & (1<<traitsShift - 1), Traits: Traits(code >> traitsShift)}
	return cell, code >= 1 && code <= MaxCellCode && cell.Rating >= 1 && cell.Rating <= MaxRating
}
