package product

import (
	"embed"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed texts
var textFiles embed.FS

// texts are what the page says in one language, and how it writes numbers and days. The element
// reads the same files, and writes numbers and days by Intl: a test in a browser holds the two
// together.
type texts struct {
	lang    string // its tag, which the files are named by
	words   map[string]string
	numbers *message.Printer
	point   string // before decimals
	day     string // what follows the number of a day
	months  [12]string
}

var (
	english = &texts{
		lang: "en", words: readTexts("en"), numbers: message.NewPrinter(language.English), point: ".",
		months: [...]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
	}
	german = &texts{
		lang: "de", words: readTexts("de"), numbers: message.NewPrinter(language.German), point: ",", day: ".",
		months: [...]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
	}

	// translations are all texts; the first is for readers of any other language.
	translations = []*texts{english, german}

	matcher = language.NewMatcher([]language.Tag{language.English, language.German})

	// autonyms are the names of languages in themselves. Go and browsers have different versions of
	// these names, so both sides read one file.
	autonyms = readTexts("languages")
)

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

// textsFor returns the texts that suit an Accept-Language header best.
func textsFor(acceptLanguage string) *texts {
	if len(acceptLanguage) > maxAcceptLanguage {
		return translations[0]
	}
	tags, _, err := language.ParseAcceptLanguage(acceptLanguage)
	if err != nil {
		return translations[0]
	}
	_, index, _ := matcher.Match(tags...)
	return translations[index]
}

// LanguageFor returns the language of the page that suits an Accept-Language header best: one of
// [Languages].
func LanguageFor(acceptLanguage string) string { return textsFor(acceptLanguage).lang }

// Languages returns the tags of the languages that pages are in.
func Languages() []string {
	var tags []string
	for _, t := range translations {
		tags = append(tags, t.lang)
	}
	return tags
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
	return t.say(key+plural(n), "n", t.number(n))
}

// plural returns the suffix of the key for a number. English and German have the same rule.
func plural(n int) string {
	if n == 1 {
		return ".one"
	}
	return ".other"
}

// number writes a whole number.
func (t *texts) number(n int) string { return t.numbers.Sprint(n) }

// tenths rounds to tenths as browsers do: a half is rounded up.
func tenths(x float64) int { return int(math.Floor(float64(x*10) + .5)) }

// decimal writes tenths with one decimal.
func (t *texts) decimal(tenths int) string {
	return t.number(tenths/10) + t.point + strconv.Itoa(tenths%10)
}

// rounded formats x with at most the given number of decimals, without trailing zeros.
func (t *texts) rounded(x float64, decimals int) string {
	scale := math.Pow10(decimals)
	whole := int(math.Floor(float64(x*scale) + .5))
	fraction := strconv.Itoa(whole%int(scale) + int(scale))[1:]
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return t.number(whole / int(scale))
	}
	return t.number(whole/int(scale)) + t.point + fraction
}

// date writes a day in UTC, such as "31 May 2024".
func (t *texts) date(at time.Time) string {
	at = at.UTC()
	return strconv.Itoa(at.Day()) + t.day + " " + t.months[at.Month()-1] + " " + strconv.Itoa(at.Year())
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
