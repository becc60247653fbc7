package comment

import (
	"slices"
	"strings"
)

// Traits is the set of a comment's traits, a bit for each. The numbers are stored: never change
// them.
type Traits uint8

// The traits.
const (
	// IsVerified is the trait of a comment whose author bought the product.
	IsVerified Traits = 1 << iota
	// HasMedia is the trait of a comment with pictures or videos.
	HasMedia
	// IsHelpful is the trait of a comment that more people found helpful than not.
	IsHelpful
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
