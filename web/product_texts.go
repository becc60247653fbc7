package web

import (
	"embed"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

//go:embed product/texts
var textFiles embed.FS

// texts are the texts of the page in one language, with its way to write numbers and days. The
// element reads the same files, and writes numbers and days by Intl: a test in a browser compares
// the two.
type texts struct {
	lang  string // its tag, which the files are named by
	tag   language.Tag
	words func() map[string]string // read when the first page needs them: that takes longer than most of a start
	locale
}

var (
	// translations are all texts; the first is for readers of any other language.
	translations = readTranslations("en", "ar", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "sv", "zh")

	englishTexts = translations[0]

	// chooseLanguage returns the language of the texts that suit an Accept-Language header best.
	chooseLanguage = newChooser(textLanguages()...)

	// autonyms are the names of languages in those languages. Go and browsers have different versions
	// of these names, so both sides read one file.
	autonyms = readTexts("languages")
)

func readTranslations(tags ...string) (all []*texts) {
	for _, tag := range tags {
		all = append(all, &texts{tag, language.MustParse(tag), sync.OnceValue(func() map[string]string { return readTexts(tag) }), locales[tag]})
	}
	return all
}

// readTexts reads an embedded file, which is part of the program.
func readTexts(name string) map[string]string {
	words := map[string]string{}
	if err := json.Unmarshal(mustHave(textFiles.ReadFile("product/texts/"+name+".json")), &words); err != nil {
		panic("web: product/texts/" + name + ".json: " + err.Error())
	}
	return words
}

// maxAcceptLanguage bounds how much of an Accept-Language header is read, in bytes. Browsers send
// some dozens; reading a megabyte of tags takes a second.
const maxAcceptLanguage = 1 << 10

// newChooser returns a function that chooses one of some languages for an Accept-Language header,
// the first of them if none suits.
func newChooser(tags ...string) func(acceptLanguage string) string {
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
		_, index, confidence := matcher.Match(withoutTraditional(asRead(wanted))...)
		if confidence == language.No { // such as another language in the same script: Arabic for Persian
			return tags[0]
		}
		return tags[index]
	}
}

// asRead puts Arabic and Chinese in place of languages whose speakers read these. The CLDR does not
// say so.
func asRead(wanted []language.Tag) []language.Tag {
	for i, tag := range wanted {
		switch base, _ := tag.Base(); base.String() {
		case "aeb", "apc", "apd", "arq", "ary", "arz", "avl", "shu":
			wanted[i], _ = language.Compose(tag, language.MustParseBase("ar"))
		case "gan", "hak", "hsn", "lzh", "nan", "wuu":
			wanted[i], _ = language.Compose(tag, language.MustParseBase("zh"))
		}
	}
	return wanted
}

// withoutTraditional removes Traditional Chinese, since our Chinese is simplified, and the "zh"
// that browsers put behind it.
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

// textLanguages returns the tags of the languages that pages are in.
func textLanguages() []string {
	var tags []string
	for _, t := range translations {
		tags = append(tags, t.lang)
	}
	return tags
}

// textsPath returns the path of the element's texts in a language. The element finds them beside
// its script and beside the API.
func textsPath(lang string) string { return "/talkback/" + lang + ".json" }

// say returns the text of a key, with values for its placeholders: a name, then its value, and so
// on.
func (t *texts) say(key string, values ...string) string {
	text, known := t.words()[key]
	if !known {
		panic("web: no text for " + key)
	}
	for i := 0; i+1 < len(values); i += 2 {
		values[i] = "{" + values[i] + "}"
	}
	return strings.NewReplacer(values...).Replace(text)
}

// count returns the text of a key for a number of things, which replaces {n}.
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

// millions are the languages that say "a million of comments". The plural rules of x/text do not
// have this form.
var millions = []string{"es", "fr", "it", "pt"}

// formOf returns the plural form of a key for a number, given as a whole number and hundredths.
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

// languageName returns the name of a language in that language, the tag if it is unknown.
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

// locale is how a language writes numbers and days, as Intl of browsers does it.
type locale struct {
	group, point string // between thousands, and before decimals
	grouped      int    // the smallest number that is written with group
	day          string // a day with {d}, {m} and {y}, such as "{d} {m} {y}" for "31 May 2024"
	months       string // the names that {m} stands for
}

// Numbers in Arabic have the digits of the other languages, as most shops write them.
var locales = map[string]locale{
	"en": {",", ".", 1_000, "{d} {m} {y}", "January February March April May June July August September October November December"},
	"ar": {",", ".", 1_000, "{d} {m} {y}", "يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"},
	"de": {".", ",", 1_000, "{d}. {m} {y}", "Januar Februar März April Mai Juni Juli August September Oktober November Dezember"},
	"es": {".", ",", 10_000, "{d} de {m} de {y}", "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"},
	"fr": {"\u202f", ",", 1_000, "{d} {m} {y}", "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"},
	"it": {".", ",", 10_000, "{d} {m} {y}", "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"},
	"ja": {",", ".", 1_000, "{y}年{m}月{d}日", "1 2 3 4 5 6 7 8 9 10 11 12"},
	"nl": {".", ",", 1_000, "{d} {m} {y}", "januari februari maart april mei juni juli augustus september oktober november december"},
	"pl": {"\u00a0", ",", 10_000, "{d} {m} {y}", "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia"},
	"pt": {".", ",", 1_000, "{d} de {m} de {y}", "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"},
	"sv": {"\u00a0", ",", 1_000, "{d} {m} {y}", "januari februari mars april maj juni juli augusti september oktober november december"},
	"zh": {",", ".", 1_000, "{y}年{m}月{d}日", "1 2 3 4 5 6 7 8 9 10 11 12"},
}

// number writes a whole number.
func (l locale) number(n int) string {
	text := strconv.Itoa(n)
	if n < l.grouped {
		return text
	}
	for end := len(text) - 3; end > 0; end -= 3 {
		text = text[:end] + l.group + text[end:]
	}
	return text
}

// tenths rounds to tenths as browsers do: a half is rounded up.
func tenths(x float64) int { return int(math.Floor(float64(x*10) + .5)) }

// decimal writes tenths with one decimal.
func (l locale) decimal(tenths int) string {
	return l.number(tenths/10) + l.point + strconv.Itoa(tenths%10)
}

// rounded formats x with at most the given number of decimals, without trailing zeros.
func (l locale) rounded(x float64, decimals int) string {
	scale := math.Pow10(decimals)
	whole := int(math.Floor(float64(x*scale) + .5))
	fraction := strconv.Itoa(whole%int(scale) + int(scale))[1:]
	fraction = strings.TrimRight(fraction, "0")
	if fraction == "" {
		return l.number(whole / int(scale))
	}
	return l.number(whole/int(scale)) + l.point + fraction
}

// date writes a day in UTC, such as "31 May 2024".
func (l locale) date(at time.Time) string {
	at = at.UTC()
	month := strings.Fields(l.months)[at.Month()-1]
	return strings.NewReplacer("{d}", strconv.Itoa(at.Day()), "{m}", month, "{y}", strconv.Itoa(at.Year())).Replace(l.day)
}
