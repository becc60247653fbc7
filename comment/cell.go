package comment

import (
	"cmp"
	"slices"
	"strings"
)

// Cell identifies a cell of the statistics: the comments of one language, rating and set of traits.
type Cell struct {
	// Language is canonical.
	Language Language
	// Rating is 1 to MaxRating.
	Rating int
	Traits Traits
}

// Cell returns the cell of the comment.
func (c Comment) Cell() Cell {
	return Cell{Language: c.Language, Rating: c.Rating, Traits: c.Traits()}
}

// Clone returns a copy that can be kept: its language shares no memory with the answer it came in.
func (c Cell) Clone() Cell {
	c.Language = Language(strings.Clone(string(c.Language)))
	return c
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

// Traits is the set of a comment's traits, a bit for each. The numbers are stored: never change
// them.
type Traits uint8

// The traits.
const (
	IsVerified Traits = 1 << iota // the author bought the product
	HasMedia                      // the comment has pictures or videos
	IsHelpful                     // more people found it helpful than not
)

// TraitSets is the number of sets of traits. Every set is below it.
const TraitSets = 8

// AllTraits returns all traits.
func AllTraits() []Traits { return []Traits{IsVerified, HasMedia, IsHelpful} }

// traitLetters has the letter of each trait, lowest bit first.
const traitLetters = "vmh"

// Traits returns the traits of the comment.
func (c Comment) Traits() (t Traits) {
	if c.Verified {
		t |= IsVerified
	}
	if len(c.Media) > 0 {
		t |= HasMedia
	}
	if c.AllVotes().Net() > 0 {
		t |= IsHelpful
	}
	return t
}

// String returns the letters of the traits in the order of the alphabet, such as "mv"; empty for
// none.
func (t Traits) String() string {
	var letters []byte
	for i := range traitLetters {
		if t&(1<<i) != 0 {
			letters = append(letters, traitLetters[i])
		}
	}
	slices.Sort(letters)
	return string(letters)
}

// ParseTraits returns the traits of the letters. It ignores unknown letters.
func ParseTraits(letters string) (t Traits) {
	for i := range traitLetters {
		if strings.IndexByte(letters, traitLetters[i]) >= 0 {
			t |= 1 << i
		}
	}
	return t
}
