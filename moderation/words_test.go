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

func TestWords(t *testing.T) {
	for _, row := range []struct {
		why, word, text string
		held            bool
	}{
		{"the word alone", "fraud", "fraud", true},
		{"between punctuation", "fraud", "What a (fraud)!", true},
		{"another case", "fraud", "FRAUD", true},
		{"a word of capitals", "FRAUD", "fraud", true},
		{"a sharp s is two letters", "scheiss", "SCHEIẞ, scheiß", true},
		{"a final sigma", "ΑΠΑΤΗΣ", "απατης", true},
		{"within a longer word", "ass", "a classic class", false},
		{"with an ending", "idiot", "idiots", false},
		{"with a star", "idiot*", "idiots", true},
		{"a star stands for no beginning", "idiot*", "anidiot", false},
		{"a star stands for nothing, too", "idiot*", "idiot", true},
		{"a full-width star", "idiot＊", "idiots", true},
		{"Korean particles follow without a space", "바보*", "바보야", true},
		{"a phrase", "rip off", "a rip off", true},
		{"a phrase over other separators", "rip off", "Rip-off", true},
		{"a phrase over lines", "rip off", "rip\n\noff", true},
		{"a phrase with a word between", "rip off", "rip it off", false},
		{"a curly apostrophe", "don't buy", "DON’T BUY", true},
		{"digits are letters of a word", "4chan", "14chan", false},
		{"a letter and its mark apart", "idiót", "idio\u0301t", true},
		{"marks of letters count", "ano", "un año", false},
		{"marks of letters count, decomposed too", "ano", "un an\u0303o", false},
		{"struck through", "idiot", "i\u0336d\u0336i\u0336o\u0336t\u0336", true},
		{"a zero-width space", "idiot", "id\u200biot", true},
		{"a soft hyphen, a joiner and a byte order mark", "idiot", "i\u00add\u200di\ufeffot", true},
		{"a filler of Hangul, which is a letter to Unicode", "idiot", "id\u3164iot", true},
		{"a grapheme joiner", "idiot", "id\u034fiot", true},
		{"an invisible character between a letter and its mark", "é", "e\u200b\u0301", true},
		{"full-width letters", "idiot", "ＩＤＩＯＴ", true},
		{"mathematical letters", "idiot", "𝓲𝓭𝓲𝓸𝓽", true},
		{"Chinese, in the middle of a text", "垃圾", "这是垃圾产品", true},
		{"Chinese, only the first letter", "垃圾", "这是垃产品", false},
		{"half-width katakana", "バカ", "お前ﾊﾞｶだ", true},
		{"Thai", "โง่", "คนโง่มาก", true},
		{"Latin beside Chinese is a word", "vx", "加VX吧", true},
		{"Latin within Latin beside Chinese is none", "vx", "加avx吧", false},
		{"Chinese and Latin", "加vx", "请加 VX:123", true},
		{"Chinese and a part of a Latin word", "加vx", "请加vxa", false},
		{"Devanagari with its vowels", "मूर्ख", "वह मूर्ख है", true},
		{"Devanagari with another vowel", "मरख", "वह मूर्ख है", false},
		{"an emoji", "🖕", "great🖕", true},
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
