package comment

// Cell is a cell of the grid of languages and ratings, as which a comment is counted.
type Cell struct {
	// Language is canonical.
	Language Language
	// Rating is 1 to MaxRating.
	Rating int
}

// Cell returns the cell of the comment.
func (c Comment) Cell() Cell { return Cell{Language: c.Language, Rating: c.Rating} }

// MaxCellCode is the highest code of a cell; the lowest is 1.
const MaxCellCode = MaxRating

// Code returns what the cell is beside its language, as one number. What is stored of a cell is its
// language and this number.
func (c Cell) Code() int { return c.Rating }

// CellOf returns the cell of a language with a code, and false if no cell has that code.
func CellOf(language Language, code int) (Cell, bool) {
	return Cell{Language: language, Rating: code}, code >= 1 && code <= MaxCellCode
}
