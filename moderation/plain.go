package moderation

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// plain returns a text without invisible characters, and with letters in their usual form: "ｗｗｗ"
// becomes "www". Otherwise a zero-width space or full-width letters would hide a word.
func plain(text string) string { return norm.NFKC.String(strings.Map(visible, text)) }

// visible returns -1 for a character that shows nothing, or only colors the one before it.
func visible(r rune) rune {
	const lightSkin, darkSkin = '\U0001F3FB', '\U0001F3FF' // of the emoji before
	switch {
	case r >= ' ' && r <= '~':
		return r
	case r >= lightSkin && r <= darkSkin || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case r == '\ufdfa' || r == '\ufdfb':
		return ' ' // NFKC expands them to 18 and 8 letters, so a text of them would become too long
	}
	return r
}

// fold returns a plain text in one case, without marks that are no part of a letter, such as a
// stroke through it. Marks of letters stay: in Spanish, "año" and "ano" are two words.
func fold(plain string) string {
	folded := norm.NFKC.String(cases.Fold().String(plain))
	return norm.NFC.String(strings.Map(func(r rune) rune {
		if r >= 0x300 && unicode.In(r, unicode.Inherited, unicode.Me) { // not the marks of a script, such as vowels of Devanagari
			return -1
		}
		return r
	}, folded))
}

// spaceless are the scripts that are written without spaces between words, and emoji.
var spaceless = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.So,
}

// charKind is the role of a character in the words of a text.
type charKind int

const (
	// between is a character between words, such as a space, a comma or a hyphen.
	between charKind = iota
	// spaced is a character of a word with boundaries.
	spaced
	// unspaced is a character of a script without spaces. Words may begin and end beside it.
	unspaced
)

func kindOf(r rune) charKind {
	switch {
	case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
		return spaced
	case r < 0x80:
		return between
	case unicode.In(r, spaceless...):
		return unspaced
	case unicode.In(r, unicode.L, unicode.N, unicode.M):
		return spaced
	}
	return between
}

// spell writes a folded text with a space before and after each word, and wherever a script
// without spaces meets another: "Buy:买iPhone" becomes " buy 买 iphone ".
func spell(folded string) string {
	var out strings.Builder
	out.Grow(len(folded) + 2)
	last := between
	out.WriteByte(' ')
	for _, r := range folded {
		kind := kindOf(r)
		if kind != last && last != between {
			out.WriteByte(' ')
		}
		if kind != between {
			out.WriteRune(r)
		}
		last = kind
	}
	if last != between {
		out.WriteByte(' ')
	}
	return out.String()
}
