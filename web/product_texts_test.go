package web

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Every language has every text, with the same placeholders, in each form that its numbers need.
// There are no unused texts.
func TestTranslationsAreComplete(t *testing.T) {
	var plurals []string
	for key := range englishTexts.words() {
		if base, found := strings.CutSuffix(key, ".one"); found {
			plurals = append(plurals, base)
		}
	}
	for _, one := range translations {
		wanted := map[string]string{} // the English text by the key of this language
		for key, text := range englishTexts.words() {
			wanted[key] = text
		}
		for _, key := range plurals {
			delete(wanted, key+".one")
			for n := range 1_001 {
				wanted[one.formOf(key, n, 0)] = englishTexts.words()[key+".other"]
			}
			wanted[key+".other"] = englishTexts.words()[key+".other"] // of fractions, in some languages
			wanted[one.formOf(key, 1_000_000, 0)] = englishTexts.words()[key+".other"]
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(wanted)), slices.Sorted(maps.Keys(one.words()))); diff != "" {
			t.Errorf("%s lacks texts (-) or has others (+): %s", one.lang, diff)
		}
		for key, text := range one.words() {
			missing, more := cmpPlaceholders(wanted[key], text)
			few := regexp.MustCompile(`\.(zero|one|two)$`).MatchString(key) // such as "two comments"
			if more != "" || missing != "" && !few {
				t.Errorf("%s: %s lacks the placeholders %q, and English has no %q", one.lang, key, missing, more)
			}
			if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "<>&") {
				t.Errorf("%s: %s is %q, want words without markup", one.lang, key, text)
			}
		}
	}
}

// cmpPlaceholders returns the placeholders of a text that a translation lacks, and those it has
// beside.
func cmpPlaceholders(text, translation string) (missing, more string) {
	without := func(text, other string) string {
		for _, found := range regexp.MustCompile(`\{\w+\}`).FindAllString(other, -1) {
			text = strings.ReplaceAll(text, found, "")
		}
		return strings.Join(regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1), " ")
	}
	return without(text, translation), without(translation, text)
}

// Each text is used somewhere: a source contains its key, or the key's beginning and end.
func TestTextsAreUsed(t *testing.T) {
	var sources strings.Builder
	for _, pattern := range []string{"product_*.go", "product/template/*", "component/src/*.ts*", "component/src/*/*.ts*"} {
		paths, _ := filepath.Glob(pattern)
		for _, path := range paths {
			content := must.Get(os.ReadFile(path))(t)
			if !strings.HasSuffix(path, "_test.go") {
				sources.Write(content)
			}
		}
	}
	code := sources.String()
	for key := range englishTexts.words() {
		subject, last, _ := strings.Cut(key, ".")
		base := strings.TrimSuffix(strings.TrimSuffix(key, ".one"), ".other")
		said := slices.ContainsFunc([]string{key, base, strings.TrimSuffix(key, ".helpful")}, func(key string) bool {
			return strings.Contains(code, `"`+key+`"`) || strings.Contains(code, "'"+key+"'")
		})
		// Such as `order.${order}`.
		made := strings.Contains(code, "`"+subject+".${") && (strings.Contains(code, "'"+last+"'") || strings.Contains(code, `"`+last+`"`))
		if !said && !made {
			t.Errorf("%s is a text that is never said", key)
		}
	}
}

func TestLanguageOfThePage(t *testing.T) {
	for accept, want := range map[string]string{
		"":                        "en",
		"de":                      "de",
		"de-AT,de;q=0.9,en;q=0.8": "de",
		"gsw-CH":                  "de",
		"en-US,en;q=0.9,de;q=0.8": "en",
		"fr-FR,fr;q=0.9":          "fr",
		"da,fr;q=0.5":             "fr",
		"pt-PT":                   "pt",
		"zh-CN,zh;q=0.9":          "zh",
		"zh-TW,zh;q=0.9":          "en",
		"zh-HK,ja;q=0.5":          "ja",
		"ar-EG":                   "ar",
		"ko,th":                   "en",
		"fa":                      "en", // has the script of Arabic
		"az-Arab,tr;q=0.5":        "en",
		"arz-EG":                  "ar", // of Egypt
		"wuu,ja;q=0.5":            "zh", // of Shanghai
		"nan-Hant-TW,ja;q=0.5":    "ja",
		"ckb":                     "ar", // whose readers read Arabic, as the CLDR has it
		"pt-BR,pt;q=0.9":          "pt",
		"es-419":                  "es",
		"de;q=0":                  "en",
		"*":                       "en",
		"no language at all, ;;":  "en",
		strings.Repeat("x,", 999): "en",
	} {
		if got := textsFor(accept).lang; got != want {
			t.Errorf("Accept-Language %.40q: %s, want %s", accept, got, want)
		}
	}
}

// What TestIntl does not compare: rounding, and days of other time zones.
func TestNumbersAndDays(t *testing.T) {
	german := textsFor("de")
	at := time.Date(2024, 5, 31, 23, 59, 59, 0, time.FixedZone("", -8*3600)) // 1 June in UTC
	for _, row := range []struct{ got, en, de string }{
		{englishTexts.decimal(tenths(4.25)) + " " + german.decimal(tenths(4.25)), "4.3", "4,3"},
		{englishTexts.decimal(tenths(4.96)) + " " + german.decimal(tenths(4.96)), "5.0", "5,0"},
		{englishTexts.rounded(1234.005, 2) + " " + german.rounded(1234.005, 2), "1,234.01", "1.234,01"},
		{englishTexts.rounded(0.04, 1) + " " + german.rounded(0.04, 1), "0", "0"},
		{englishTexts.rounded(2.06, 1) + " " + german.rounded(2.06, 1), "2.1", "2,1"},
		{englishTexts.date(at) + " " + german.date(at), "1 June 2024", "1. Juni 2024"},
	} {
		if want := row.en + " " + row.de; row.got != want {
			t.Errorf("got %s, want %s", row.got, want)
		}
	}
}

func TestLanguageNames(t *testing.T) {
	for tag, want := range map[string]string{
		"de": "Deutsch", "pt-BR": "Português (BR)", "zh-Hant": "繁體中文", "zh-Hant-HK": "中文 (Hant-HK)", "und": "Other language", "tlh": "tlh",
	} {
		if got := englishTexts.languageName(tag); got != want {
			t.Errorf("%s is called %s, want %s", tag, got, want)
		}
	}
}

// No value can introduce another placeholder.
func TestValuesAreNotTemplates(t *testing.T) {
	if got := englishTexts.say("page.title.number", "product", "{n}", "n", "7"); got != "{n}: customer comments, page 7" {
		t.Errorf("got %q", got)
	}
}

// Google's requirements for a review snippet of a product:
// https://developers.google.com/search/docs/appearance/structured-data/review-snippet. All but
// publisher, which is for a critic's review, are present.
var googleAsks = map[string]struct{ required, recommended []string }{
	"Product":         {required: []string{"name"}, recommended: []string{"review", "aggregateRating", "url"}},
	"AggregateRating": {required: []string{"ratingValue", "ratingCount"}, recommended: []string{"bestRating", "worstRating"}},
	"Review":          {required: []string{"author", "reviewRating"}, recommended: []string{"datePublished"}},
	"Rating":          {required: []string{"ratingValue"}, recommended: []string{"bestRating", "worstRating"}},
	"Person":          {required: []string{"name"}},
}

func TestStructuredData(t *testing.T) {
	kinds := map[string]int{}
	for name, f := range fixtures(t) {
		page := get(t, f.Answer, 200, f.Path+"?"+f.Query, f.Locale)
		_, rest, found := strings.Cut(string(page.Body), `<script type="application/ld+json">`)
		listed := !strings.Contains(string(page.Body), "noindex")
		a := parseAnswer(f.state(t), f.Answer)
		if rated := a.Data.Product != nil && a.Data.Product.Stats != nil && a.Data.Product.Stats.Average != nil; found != (listed && rated) {
			t.Errorf("%s: data for search engines: %t, listed %t", name, found, listed)
		}
		if !found {
			continue
		}
		text, _, _ := strings.Cut(rest, "</script>")
		var data map[string]any
		if err := json.Unmarshal([]byte(text), &data); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if data["@context"] != "https://schema.org" || strings.ContainsAny(text, "<>") {
			t.Errorf("%s: %s", name, text)
		}
		checkThing(t, name, data, kinds)
		tellsThePage(t, name, []byte(text), string(page.Body), a.Data.Product)
	}
	for kind := range googleAsks {
		if kinds[kind] == 0 {
			t.Errorf("no page describes a %s", kind)
		}
	}
	if kinds["image"] == 0 {
		t.Error("no page has pictures")
	}
}

// tellsThePage checks that data for search engines say what the page says: of the product, and of
// each comment whose author gave a name.
func tellsThePage(t *testing.T, name string, text []byte, page string, p *product) {
	t.Helper()
	var told structured
	must.Do(t, json.Unmarshal(text, &told))
	if rated := told.Aggregate; told.Type != "Product" || told.Name != p.ID || !strings.Contains(page, `rel="canonical" href="`+told.URL+`"`) ||
		rated.RatingCount != p.Stats.Total || math.Abs(rated.Value-*p.Stats.Average) > 0.05 || rated.Best != 5 || rated.Worst != 1 {
		t.Errorf("%s: %+v of %+v", name, told, p.Stats)
	}
	if p.List == nil {
		return
	}
	named := slices.DeleteFunc(slices.Clone(p.List.Nodes), func(c comment) bool { return c.Author.Name == "" })
	if len(told.Reviews) != len(named) {
		t.Fatalf("%s: %d reviews of %d comments", name, len(told.Reviews), len(named))
	}
	for i, r := range told.Reviews {
		if c := named[i]; r.Author.Name != c.Author.Name || r.Rating.Value != float64(c.Rating) || r.Body != c.Text {
			t.Errorf("%s: %+v of %+v", name, r, c)
		}
	}
}

// checkThing checks a thing, and those in it, against the requirements of its kind.
func checkThing(t *testing.T, name string, thing map[string]any, kinds map[string]int) {
	t.Helper()
	kind, _ := thing["@type"].(string)
	asked, known := googleAsks[kind]
	kinds[kind]++
	for _, property := range append(asked.required, asked.recommended...) {
		if value := thing[property]; !known || value == nil || value == "" {
			// A page may show only comments whose authors gave no name.
			if property != "review" {
				t.Errorf("%s: a %s without %s", name, kind, property)
			}
		}
	}
	for _, value := range thing {
		switch value := value.(type) {
		case map[string]any:
			checkThing(t, name, value, kinds)
		case []any:
			for _, item := range value {
				if inner, isThing := item.(map[string]any); isThing {
					checkThing(t, name, inner, kinds)
				} else if address, _ := item.(string); !strings.HasPrefix(address, "https://") || strings.HasSuffix(address, ".mp4") {
					t.Errorf("%s: an image at %q", name, address)
				} else {
					kinds["image"]++
				}
			}
		}
	}
}
