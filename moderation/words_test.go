package moderation_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
)

// manyWords returns different words of up to eight letters, a line each.
func manyWords(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "%s%x\n", string(rune('a'+i%26)), i)
	}
	return out.String()
}

// Words of special letters and marks. TestWordsAsByTheModel has what the others are found by: case,
// boundaries, stars, phrases and scripts without spaces.
func TestWords(t *testing.T) {
	for _, row := range []struct {
		why, word, text string
		held            bool
	}{
		{"a sharp s is two letters", "scheiss", "SCHEIẞ, scheiß", true},
		{"a final sigma", "ΑΠΑΤΗΣ", "απατης", true},
		{"a full-width star", "idiot＊", "idiots", true},
		{"Korean particles follow without a space", "바보*", "바보야", true},
		{"a phrase over lines", "rip off", "rip\n\noff", true},
		{"a curly apostrophe", "don't buy", "DON’T BUY", true},
		{"marks of letters count", "ano", "un año", false},
		{"marks of letters count, decomposed too", "ano", "un an\u0303o", false},
		{"struck through", "idiot", "i\u0336d\u0336i\u0336o\u0336t\u0336", true},
		{"a soft hyphen, a joiner and a byte order mark", "idiot", "i\u00add\u200di\ufeffot", true},
		{"a filler of Hangul, which is a letter to Unicode", "idiot", "id\u3164iot", true},
		{"a grapheme joiner", "idiot", "id\u034fiot", true},
		{"an invisible character between a letter and its mark", "é", "e\u200b\u0301", true},
		{"half-width katakana", "バカ", "お前ﾊﾞｶだ", true},
		{"Thai", "โง่", "คนโง่มาก", true},
		{"Devanagari with its vowels", "मूर्ख", "वह मूर्ख है", true},
		{"Devanagari with another vowel", "मरख", "वह मूर्ख है", false},
		{"an emoji with a color of skin", "🖕", "🖕🏽", true},
		{"a word with an emoji with a color of skin", "🖕🏽", "🖕", true},
		{"a sentence in one character separates words", "fraud", "fraud\ufdfa", true},
		{"a word as long as words may be", strings.Repeat("ß", 32), strings.Repeat("s", 64), true},
		{"a word twice", "fraud\nfraud", "fraud", true},
	} {
		policy := open(t, `{"wordsFile": "words.txt"}`, row.word)
		if reasons := policy.Hold(comment.Comment{Rating: 5, Text: row.text}, false); (reasons != nil) != row.held {
			t.Errorf("%s: %q, with the word %q, is held for %v", row.why, row.text, row.word, reasons)
		}
	}
}

// A phrase does not begin in the title and end in the text.
func TestPhraseInOneField(t *testing.T) {
	title := "What a rip"
	policy := open(t, `{"wordsFile": "words.txt"}`, "rip off\n")
	if reasons := policy.Hold(comment.Comment{Rating: 5, Title: &title, Text: "off we go"}, false); reasons != nil {
		t.Errorf("it is held for %v", reasons)
	}
}
