package product

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Every language has every text, with the same placeholders.
func TestTranslationsAreComplete(t *testing.T) {
	placeholders := func(text string) []string {
		found := regexp.MustCompile(`\{\w+\}`).FindAllString(text, -1)
		slices.Sort(found)
		return found
	}
	for _, other := range translations[1:] {
		if diff := cmp.Diff(slices.Sorted(maps.Keys(english.words)), slices.Sorted(maps.Keys(other.words))); diff != "" {
			t.Errorf("%s has other texts than en: %s", other.lang, diff)
		}
		for key, text := range english.words {
			if diff := cmp.Diff(placeholders(text), placeholders(other.words[key])); diff != "" {
				t.Errorf("%s: %s has other placeholders than en: %s", other.lang, key, diff)
			}
		}
	}
	for _, one := range translations {
		for key, text := range one.words {
			if strings.TrimSpace(text) == "" || strings.ContainsAny(text, "<>&") {
				t.Errorf("%s: %s is %q, want words without markup", one.lang, key, text)
			}
			base, found := strings.CutSuffix(key, ".one")
			if _, other := one.words[base+".other"]; found && !other {
				t.Errorf("%s: %s has no form for other numbers", one.lang, key)
			}
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
		"fr-FR,fr;q=0.9":          "en",
		"fr,de;q=0.5":             "de",
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

func TestNumbersAndDays(t *testing.T) {
	at := time.Date(2024, 5, 31, 23, 59, 59, 0, time.FixedZone("", -8*3600)) // 1 June in UTC
	for _, row := range []struct{ got, en, de string }{
		{english.number(0) + " " + german.number(0), "0", "0"},
		{english.number(999) + " " + german.number(999), "999", "999"},
		{english.number(1000) + " " + german.number(1000), "1,000", "1.000"},
		{english.number(26_123_456) + " " + german.number(26_123_456), "26,123,456", "26.123.456"},
		{english.decimal(tenths(4.25)) + " " + german.decimal(tenths(4.25)), "4.3", "4,3"},
		{english.decimal(tenths(4.96)) + " " + german.decimal(tenths(4.96)), "5.0", "5,0"},
		{english.rounded(12.5, 2) + " " + german.rounded(12.5, 2), "12.5", "12,5"},
		{english.rounded(1234.005, 2) + " " + german.rounded(1234.005, 2), "1,234.01", "1.234,01"},
		{english.rounded(0.04, 1) + " " + german.rounded(0.04, 1), "0", "0"},
		{english.rounded(2.06, 1) + " " + german.rounded(2.06, 1), "2.1", "2,1"},
		{english.date(at) + " " + german.date(at), "1 June 2024", "1. Juni 2024"},
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
		if got := english.languageName(tag); got != want {
			t.Errorf("%s is called %s, want %s", tag, got, want)
		}
	}
}

// No value can bring in another placeholder.
func TestValuesAreNotTemplates(t *testing.T) {
	if got := english.say("page.title.number", "product", "{n}", "n", "7"); got != "{n}: customer comments, page 7" {
		t.Errorf("got %q", got)
	}
}

// What Google asks for a review snippet of a product:
// https://developers.google.com/search/docs/appearance/structured-data/review-snippet.
// All but publisher, which is for a critic's review, is there.
var googleAsks = map[string]struct{ required, recommended []string }{
	"Product":         {required: []string{"name"}, recommended: []string{"review", "aggregateRating", "url"}},
	"AggregateRating": {required: []string{"ratingValue", "reviewCount"}, recommended: []string{"bestRating", "worstRating"}},
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
		a := parseAnswer(f.Answer)
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
	}
	for kind := range googleAsks {
		if kinds[kind] == 0 {
			t.Errorf("no page describes a %s", kind)
		}
	}
}

// checkThing holds a thing, and those in it, against what is asked for its kind.
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
				} else if address, _ := item.(string); !strings.HasPrefix(address, "https://") {
					t.Errorf("%s: an image at %q", name, address)
				}
			}
		}
	}
}
