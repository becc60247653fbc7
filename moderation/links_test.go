package moderation_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
)

// What is a link, and what only looks like one, beside the examples of the manual.
func TestLinks(t *testing.T) {
	policy := open(t, `{"link": true}`, "")
	for _, row := range []struct {
		why, text string
		held      bool
	}{
		{"a URL", "see http://example.test/a", true},
		{"a URL of any scheme and case", "HXXPS://10.0.0.1:8080", true},
		{"a URL of an address", "http://[::1]/", true},
		{"a face is no URL", "no milk ://", false},
		{"a face before a word is none", "no milk ://but coffee", false},
		{"in capitals", "see WWW.example", true},
		{"in the middle of a word it is none", "awww.so cute", false},
		{"a domain", "buy at example.com", true},
		{"a domain in capitals", "EXAMPLE.COM", true},
		{"other domains in capitals", "EXAMPLE.NET", true},
		{"or with one", "Example.Org", true},
		{"a domain after a sentence", "Good.Buy at example.com.", true},
		{"a domain with a country", "example.co.uk", true},
		{"a domain of another script, encoded", "xn--e1afmkfd.xn--p1ai", true},
		{"a domain in Chinese", "请看example.com吧", true},
		{"a domain with a hyphen after it", "Amazon.de-Gutschein", true},
		{"a label as long as labels are", "www." + strings.Repeat("a", 63), true},
		{"a label longer than labels are", "www." + strings.Repeat("a", 64), false},
		{"a domain with vowels of Devanagari", "उदाहरण.भारत", true},
		{"an ideographic full stop in a domain", "example。com", true},
		{"full-width letters", "ｅｘａｍｐｌｅ．ｃｏｍ", true},
		{"a zero-width space in a domain", "example\u200b.c\u200bom", true},
		{"a shortened link", "bit.ly/3xY", true},
		{"an e-mail address", "joe.doe+shop@mail.example", true},
		{"an e-mail address with an underscore", "joe_@mail.example", true},
		{"an e-mail address with a hyphen", "joe-@my-mail.example", true},
		{"an e-mail address with a plus", "joe+@mail.example", true},
		{"an e-mail address with a short label", "joe@a.b.example", true},
		{"a host ends at a space", "joe@home likes it.Really", false},
		{"a price after a number", "3@1.5", false},
		{"a dot in braces", "example { dot } de", true},
		{"a dot in angle brackets", "example<DOT>de", true},
		{"a dot in German", "example (punkt) de", true},
		{"a dot in French", "example (point) fr", true},
		{"a dot in Spanish and Italian", "example (punto) es", true},
		{"a dot in Portuguese", "example (ponto) br", true},
		{"a dot as a word, in capitals", "EXAMPLE DOT NET", true},
		{"a dot as a word before org", "example dot org", true},
		{"a dot as a word before info", "example dot info", true},
		{"a word that ends with dot", "the dotcom bubble", false},
		{"a word that only begins like a domain", "one dot community", false},
		{"a word beside another word", "a dot of paint", false},
		{"a dot in brackets before no domain", "great (dot) nothing else", false},
		{"a full stop without a space", "It works.It is good.So buy.In short", false},
		{"careless letters", "i tried.it works,is ok.so buy", false},
		{"short words", "x.am x.as x.at x.be x.by x.do x.in x.is x.it x.me x.my x.no x.so x.to x.us", false},
		{"a word that goes on with a letter of French", "bien.comédie", false},
		{"initials", "J.R.R. Tolkien, U.S., e.g., z.B., p.m.", false},
		{"numbers and versions", "1.500 or 2.0.1, at 3.5.", false},
		{"an ellipsis", "well...com on…net", false},
		{"a slash between words", "good/bad.either/or", false},
		{"a slash after a short word", "they tell.me/ you", false},
		{"a name of a file", "manual.pdf", false},
		{"a top-level domain alone", ".com", false},
		{"a full stop in Chinese", "质量很好。快递也快。", false},
		{"a title", "Dr.Oz and Ver.同梱", false},
	} {
		if reasons := policy.Hold(comment.Comment{Rating: 5, Text: row.text}, false); (reasons != nil) != row.held {
			t.Errorf("%s: %q is held for %v", row.why, row.text, reasons)
		}
	}
}

// hostile are texts of a number of characters that each make one step of a decision do its most.
func hostile(length int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, length/len([]rune(unit))) }
	return map[string]string{
		"one word":          fill("a"),
		"short words":       fill("a "),
		"dots":              fill("a."),
		"a domain's labels": fill("aa."),
		"addresses":         fill("a@"),
		"one address":       "a@" + fill("a-"),
		"brackets":          fill("("),
		"spaces":            fill(" "),
		"spelled dots":      fill(" dot "),
		"marks":             "a" + fill("\u0301"),
		"many marks":        fill("a\u0336\u0301\u0323"),
		"zero width":        fill("a\u200b"),
		"Chinese":           fill("垃圾桶"),
		"Hangul":            fill("\u1112\u1161\u11ab"),
		"ligatures":         fill("\ufdfa"), // becomes 18 characters
		"full width":        fill("ａ．"),
		"emoji":             fill("🖕🏽"),
		"English":           fill("this is a good coffee machine, and I like it. "),
	}
}

// tenThousandWords is a file of as many words as it may hold, a fifth of them in Chinese.
func tenThousandWords() string {
	var words strings.Builder
	words.WriteString(manyWords(7_999) + "swindle\n")
	for i := range 2_000 {
		words.WriteString(string([]rune{rune(0x5783 + i%3), rune(0x4e00 + i), rune(0x5000 + i)}[:2+i%2]) + "\n")
	}
	return words.String()
}

// A word and a link are found behind any text, and as long a text as a table may hold takes less
// than seconds: at these lengths, a step that takes the square of the length takes minutes.
func TestHostileTexts(t *testing.T) {
	policy := open(t, `{"link": true, "wordsFile": "words.txt"}`, tenThousandWords())
	want := []comment.HoldReason{comment.HeldLink, comment.HeldWord}
	for name, text := range hostile(comment.MaxTextBytes) {
		start := time.Now()
		got := policy.Hold(comment.Comment{Rating: 5, Text: text + " swindle https://example.test"}, false)
		if !slices.Equal(got, want) {
			t.Errorf("%s: it is held for %v, want %v", name, got, want)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: a decision took %v", name, took)
		}
	}
}

// One decision takes milliseconds at the longest text that the API takes.
func BenchmarkHold(b *testing.B) {
	policy := open(b, `{"link": true, "wordsFile": "words.txt"}`, tenThousandWords())
	for name, text := range hostile(10_000) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				policy.Hold(comment.Comment{Rating: 5, Text: text}, false)
			}
		})
	}
}
