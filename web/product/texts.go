package product

import (
	"embed"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed texts
var textFiles embed.FS

// texts are what the page says in one language, and how it writes numbers and days. The element
// reads the same files, and writes numbers and days by Intl: a test in a browser holds the two
// together.
type texts struct {
	lang  string // its tag, which the files are named by
	tag   language.Tag
	words map[string]string
	locale
}

var (
	// translations are all texts; the first is for readers of any other language.
	translations = readTranslations("en", "ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "sv", "zh")

	english = translations[0]

	// chooseLanguage returns the language of the texts that suit an Accept-Language header best.
	chooseLanguage = NewChooser(Languages()...)

	// autonyms are the names of languages in themselves. Go and browsers have different versions of
	// these names, so both sides read one file.
	autonyms = readTexts("languages")
)

func readTranslations(tags ...string) (all []*texts) {
	for _, tag := range tags {
		all = append(all, &texts{tag, language.MustParse(tag), readTexts(tag), locales[tag]})
	}
	return all
}

// readTexts reads an embedded file, which is part of the program.
func readTexts(name string) map[string]string {
	content, err := textFiles.ReadFile("texts/" + name + ".json")
	if err != nil {
		panic(err)
	}
	words := map[string]string{}
	if err := json.Unmarshal(content, &words); err != nil {
		panic("web/product: texts/" + name + ".json: " + err.Error())
	}
	return words
}

// maxAcceptLanguage bounds how much of an Accept-Language header is read, in bytes. Browsers send
// some dozens; reading a megabyte of tags takes a second.
const maxAcceptLanguage = 1 << 10

// NewChooser returns a function that chooses one of some languages for an Accept-Language header, the
// first of them if none suits.
func NewChooser(tags ...string) func(acceptLanguage string) string {
	var supported []language.Tag
	for _, tag := range tags {
		supported = append(supported, language.MustParse(tag))
	}
	matcher := language.NewMatcher(supported)
	return func(acceptLanguage string) string {
		if len(acceptLanguage) > maxAcceptLanguage {
			return tags[0]
		}
		wanted, _, err := language.ParseAcceptLanguage(acceptLanguage)
		if err != nil {
			return tags[0]
		}
		_, index, _ := matcher.Match(withoutTraditional(wanted)...)
		return tags[index]
	}
}

// withoutTraditional removes Traditional Chinese, since our Chinese is simplified, and the "zh" that browsers
// put behind it.
func withoutTraditional(wanted []language.Tag) []language.Tag {
	traditional := false
	return slices.DeleteFunc(wanted, func(tag language.Tag) bool {
		base, _ := tag.Base()
		script, _ := tag.Script()
		traditional = traditional || script.String() == "Hant"
		return base.String() == "zh" && traditional && (script.String() == "Hant" || tag.String() == "zh")
	})
}

// textsFor returns the texts that suit an Accept-Language header best.
func textsFor(acceptLanguage string) *texts {
	lang := chooseLanguage(acceptLanguage)
	return translations[slices.IndexFunc(translations, func(t *texts) bool { return t.lang == lang })]
}

// Languages returns the tags of the languages that pages are in.
func Languages() []string {
	var tags []string
	for _, t := range translations {
		tags = append(tags, t.lang)
	}
	return tags
}

// TextsPath returns where the server has the texts of the element in a language, which finds them
// beside its script and beside the API.
func TextsPath(lang string) string { return "/talkback/" + lang + ".json" }

// ElementTexts returns the texts of a language that the element has, one of [Languages], as JSON. The
// others stand in the page around it.
func ElementTexts(lang string) []byte {
	words := readTexts(lang)
	maps.DeleteFunc(words, func(key, _ string) bool {
		subject, _, _ := strings.Cut(key, ".")
		return subject == "site" || subject == "page" || subject == "missing"
	})
	content, err := json.Marshal(words)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return content
}

// say returns the text of a key, with values for its placeholders: a name, then its value, and so
// on.
func (t *texts) say(key string, values ...string) string {
	text, known := t.words[key]
	if !known {
		panic("web/product: no text for " + key)
	}
	for i := 0; i+1 < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(text)
}

// count returns the text of a key for a number of things, which {n} stands for.
func (t *texts) count(key string, n int) string {
	return t.say(t.formOf(key, n, 0), "n", t.number(n))
}

// dir is the direction of the language, as the attribute has it.
func (t *texts) dir() string {
	if t.lang == "ar" {
		return "rtl"
	}
	return "ltr"
}

var pluralForms = [...]string{
	plural.Other: ".other", plural.Zero: ".zero", plural.One: ".one", plural.Two: ".two", plural.Few: ".few", plural.Many: ".many",
}

// millions are the languages that say "a million of comments". The rules of x/text are older than that.
var millions = []string{"es", "fr", "it", "pt"}

// formOf returns the form of a key that fits a number, given as a whole one and its hundredths.
func (t *texts) formOf(key string, whole, hundredths int) string {
	decimals, digits := 0, hundredths
	switch {
	case hundredths%10 > 0:
		decimals = 2
	case hundredths > 0:
		decimals, digits = 1, hundredths/10
	case whole > 0 && whole%1_000_000 == 0 && slices.Contains(millions, t.lang):
		return key + ".many"
	}
	return key + pluralForms[plural.Cardinal.MatchPlural(t.tag, whole, decimals, decimals, digits, digits)]
}

// LanguageName returns the name of a language in itself, such as "Deutsch" for "de"; the tag if it is
// not known.
func LanguageName(tag string) string { return english.languageName(tag) }

// languageName returns the name of a language in itself, the tag if it is not known.
func (t *texts) languageName(tag string) string {
	if tag == "und" {
		return t.say("language.unknown")
	}
	if name, known := autonyms[tag]; known {
		return name
	}
	base, rest, _ := strings.Cut(tag, "-")
	if name, known := autonyms[base]; known {
		return name + " (" + rest + ")"
	}
	return tag
}
