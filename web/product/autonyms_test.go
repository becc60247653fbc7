package product

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"github.com/talkback/talkback/internal/commenttest/golden"
	"github.com/talkback/talkback/internal/commenttest/must"
)

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
	golden.Compare(t, "texts/languages.json", out.Bytes())
}
