package comment

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkText returns a BadInput error unless a text can be stored and has least to most bytes.
func checkText(what, text string, least, most int) error {
	switch {
	case len(text) < least:
		return Errorf(BadInput, "the %s is empty", what)
	case len(text) > most:
		return Errorf(BadInput, "the %s is %d bytes long; at most %d are kept", what, len(text), most)
	case !utf8.ValidString(text):
		return Errorf(BadInput, "the %s is not valid UTF-8", what)
	}
	if at := strings.IndexFunc(text, isControl); at >= 0 {
		return Errorf(BadInput, "the %s holds the control character %U: remove it", what, []rune(text[at:])[0])
	}
	return nil
}

// isControl reports whether no text of a comment may hold a character.
func isControl(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// IsBlank reports whether a text shows nothing: it has white space and invisible characters only.
func IsBlank(text string) bool {
	const emptyBraille = '\u2800' // a pattern without dots, which Unicode takes for a symbol
	return !strings.ContainsFunc(text, func(r rune) bool {
		invisible := unicode.IsSpace(r) || r == emptyBraille || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
		return !invisible || unicode.Is(unicode.Prepended_Concatenation_Mark, r) // such as the Arabic sign of a year
	})
}

// TextOrNone returns an optional text, empty for one that is nil or shows nothing.
func TextOrNone(text *string) string {
	if text == nil || IsBlank(*text) {
		return ""
	}
	return *text
}

// orNil returns a value, nil for the zero value.
func orNil[T comparable](value T) *T {
	if value == *new(T) {
		return nil
	}
	return &value
}

// Amount says how many there are of something, such as 1 comment or 12 comments.
func Amount(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
