package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// notation is a language's form of numbers and days.
type notation struct {
	Numbers, Decimals, Days, Forms []string
	Categories                     map[string]bool
}

// The server formats numbers and days, and chooses plural forms, as a browser's Intl does.
func TestIntl(t *testing.T) {
	numbers := []int{0, 1, 2, 3, 5, 10, 11, 19, 21, 22, 99, 100, 102, 111, 999, 1_000, 1_001, 9_999, 10_000, 12_345, 999_999, 1_000_000, 1_000_001, 26_000_000}
	hundredths := []int{50, 125, 150, 200, 310, 1_01, 1_000_50, 20_000_25}
	want := map[string]*notation{}
	for _, lang := range translations {
		w := &notation{Categories: map[string]bool{}}
		for _, n := range numbers {
			w.Numbers = append(w.Numbers, lang.number(n))
			w.Forms = append(w.Forms, lang.formOf("", n, 0))
		}
		for _, n := range hundredths {
			w.Decimals = append(w.Decimals, lang.rounded(float64(n)/100, 2))
			w.Forms = append(w.Forms, lang.formOf("", n/100, n%100))
		}
		for month := range 12 {
			w.Days = append(w.Days, lang.date(time.Date(2024, time.Month(1+month), 1+2*month, 0, 0, 0, 0, time.UTC)))
		}
		for _, form := range pluralForms {
			if lang.words()["comments"+form] != "" {
				w.Categories[form] = true
			}
		}
		want[lang.lang] = w
	}
	given := must.Get(json.Marshal(map[string]any{"languages": textLanguages(), "numbers": numbers, "hundredths": hundredths}))(t)
	got := map[string]*notation{}
	if err := chromedp.Run(browsertest.Open(t), chromedp.Evaluate(fmt.Sprintf(`((given) => Object.fromEntries(given.languages.map((language) => {
		const locale = { en: 'en-GB', ar: 'ar-u-nu-latn' }[language] ?? language; // as the element has it
		const number = new Intl.NumberFormat(locale), plural = new Intl.PluralRules(locale);
		const day = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' });
		const decimals = given.hundredths.map((n) => n / 100);
		return [language, {
			Numbers: given.numbers.map((n) => number.format(n)),
			Decimals: decimals.map((n) => number.format(n)),
			Days: Array.from({ length: 12 }, (_, month) => day.format(Date.UTC(2024, month, 1 + 2 * month))),
			Forms: [...given.numbers, ...decimals].map((n) => '.' + plural.select(n)),
			Categories: Object.fromEntries(plural.resolvedOptions().pluralCategories.map((form) => ['.' + form, true])),
		}];
	})))(%s)`, given), &got)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the server (-) and a browser (+) differ:\n%s", diff)
	}
}

// The names of languages are those of the Unicode CLDR as x/text has them, in capitals at their
// beginning, since they stand alone.
func TestAutonyms(t *testing.T) {
	names := map[string]string{"no": "Norsk"}
	add := func(tag language.Tag) {
		if name := display.Self.Name(tag); name != "" && names[tag.String()] == "" {
			first, size := utf8.DecodeRuneInString(name)
			names[tag.String()] = string(unicode.ToTitle(first)) + name[size:]
		}
	}
	for _, tag := range display.Supported.Tags() {
		if base, _ := tag.Base(); base.String() == tag.String() && len(tag.String()) == 2 {
			add(tag)
		}
	}
	// Of the languages with a longer tag, those with most readers.
	for _, tag := range []string{"ast", "ckb", "fil", "gsw", "kok", "nb", "yue", "zh-Hans", "zh-Hant"} {
		add(language.MustParse(tag))
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	must.Do(t, encoder.Encode(names))
	goldentest.Compare(t, "product/texts/languages.json", out.Bytes())
}
