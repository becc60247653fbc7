package comment

import (
	"strings"

	"golang.org/x/text/language"
)

// Bounds of language tags, in bytes.
const (
	// maxLanguageBytes is the length that RFC 5646, section 4.4.1, recommends to support.
	maxLanguageBytes = 35
	// maxStoredLanguageBytes is higher because a canonical form can be longer than its tag.
	maxStoredLanguageBytes = 64
	// canonicalSteps bounds how often a tag is canonicalized until it no longer changes. No known tag
	// takes more than two.
	canonicalSteps = 4
)

// Language is a BCP 47 tag in canonical form, such as "en" or "pt-BR". Languages are compared as
// tags: "en" and "en-US" are two.
type Language string

// ParseLanguage puts a BCP 47 tag into canonical form, as x/text does it, or returns a BadInput
// error. The result is its own canonical form: ParseLanguage returns it unchanged. x/text turns
// some improper tags into forms that it then refuses, such as und-1994-biske-gb into
// und-biske-1994-gb: these have no canonical form.
func ParseLanguage(text string) (Language, error) {
	form := text
	for range canonicalSteps {
		if form == "" || len(form) > maxLanguageBytes { // parsing takes quadratic time
			break
		}
		tag, err := language.Parse(form)
		if err != nil {
			break
		}
		next := tag.String()
		if next == form {
			return Language(form), nil
		}
		form = next
	}
	return "", Errorf(BadInput, `%.40q is not a language: give a BCP 47 tag such as "en", "pt-BR" or "zh-Hant"`, text)
}

// StoredLanguage reads the tag of a stored comment. It returns the canonical form, or the tag
// itself if it has no canonical form but consists of known subtags, as older tables may hold. It is
// for filters and restored comments. New comments must pass ParseLanguage.
func StoredLanguage(text string) (Language, error) {
	canonical, err := ParseLanguage(text)
	if err != nil && storable(text) {
		return Language(text), nil
	}
	return canonical, err
}

// storable reports whether a tag consists of known subtags, in any order, up to the first
// extension. So a misspelt language is still an error.
func storable(tag string) bool {
	if !IsTag(tag) {
		return false
	}
	subtags := strings.Split(tag, "-")
	extended := false
	for i, subtag := range subtags {
		if len(subtag) < 1 || len(subtag) > 8 {
			return false
		}
		if extended = extended || i > 0 && len(subtag) == 1; extended {
			continue
		}
		known := subtags[0]
		if i > 0 {
			known += "-" + subtag
		}
		if _, err := language.Parse(known); err != nil {
			return false
		}
	}
	return true
}

// IsTag reports whether text has 1 to maxStoredLanguageBytes bytes, all of them letters, digits and
// hyphens. Every stored language does, even with unknown subtags.
func IsTag(text string) bool {
	for i := range len(text) {
		c := text[i]
		if (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return len(text) > 0 && len(text) <= maxStoredLanguageBytes
}
