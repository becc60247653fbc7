package comment

import "golang.org/x/text/language"

// maxLanguageBytes is the length that RFC 5646, section 4.4.1, tells everyone to have room for.
const maxLanguageBytes = 35

// Language is a BCP 47 tag in canonical form, such as "en" or "pt-BR". Languages are compared as tags: "en" and "en-US"
// are two.
type Language string

// Undetermined is the language of a text whose language nobody knows.
const Undetermined Language = "und"

// ParseLanguage puts a BCP 47 tag into canonical form, as x/text does it, or returns a BadInput error.
func ParseLanguage(text string) (Language, error) {
	tag, err := language.Parse(text)
	if err != nil || text == "" || len(text) > maxLanguageBytes {
		return "", Errorf(BadInput, `%.40q is not a language: give a BCP 47 tag such as "en", "pt-BR" or "zh-Hant"`, text)
	}
	return Language(tag.String()), nil
}
