package comment_test

import (
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
)

func TestParseLanguage(t *testing.T) {
	for _, row := range []struct{ tag, want, why string }{
		{"en", "en", "as it is"},
		{"EN-us", "en-US", "case does not matter"},
		{"pt_BR", "pt-BR", "nor does the separator"},
		{"zh-hant", "zh-Hant", "a script"},
		{"es-419", "es-419", "a region of numbers"},
		{"und", "und", "nobody knows"},
		{"iw", "he", "replaced by another"},
		{"mo", "ro-MD", "replaced by another with a region"},
		{"sh", "sr-Latn", "replaced by another with a script"},
		{"zh-yue", "yue", "an extended language is a language by itself"},
		{"zh-cmn-hans", "cmn-Hans", "the same with a script"},
		{"sgn-BE-FR", "sfb", "redundant"},
		{"i-klingon", "tlh", "grandfathered, with a tag of its own now"},
		{"en-GB-oed", "en-GB-oxendict", "grandfathered, by a variant now"},
		{"zh-min", "nan-x-zh-min", "grandfathered without a tag of its own"},
		{"i-default", "en-x-i-default", "grandfathered without a tag of its own"},
		{"de-1996-1901", "de-1901-1996", "variants have an order"},
		{"sl-rozaj-biske-1994", "sl-rozaj-biske-1994", "variants in their order"},
		{"en-u-ca-gregory-t-de", "en-t-de-u-ca-gregory", "extensions have an order"},
		{"x-foo", "x-foo", "private use"},
		{"sr-x-" + strings.Repeat("abcdefgh-", 3) + "ij", "sr-x-" + strings.Repeat("abcdefgh-", 3) + "ij", "34 bytes"},

		{"sr-x-" + strings.Repeat("abcdefgh-", 3) + "ijk", "sr-x-" + strings.Repeat("abcdefgh-", 3) + "ijk", "35 bytes"},

		{"", "", "empty"},
		{"sr-x-" + strings.Repeat("abcdefgh-", 3) + "ijkl", "", "36 bytes"},
		{"englisch", "", "no language"},
		{"xx", "", "no language"},
		{"e", "", "too short"},
		{"en/5", "", "would be two parts of a key"},
		{"en-", "", "ends in a separator"},
		{"en-" + strings.Repeat("x-abcdefgh", 10), "", "too long"},
		{"und-1994-biske-gb", "", "a region after variants: its form is refused by itself"},
		{"en-heploc-oxendict-419", "", "a region after variants: its form is refused by itself"},
		{"en-t-jp-m0-und", "", "an extension without a value: its form is refused by itself"},
		{"sh-x-" + strings.Repeat("abcdefgh-", 3) + "ij", "", "34 bytes that become 39"},
	} {
		got, err := comment.ParseLanguage(row.tag)
		if got != comment.Language(row.want) || (err == nil) != (row.want != "") {
			t.Errorf("%q is %q, %v; want %q: %s", row.tag, got, err, row.want, row.why)
		}
		if err != nil && comment.KindOf(err) != comment.BadInput {
			t.Errorf("%q: an error of kind %d", row.tag, comment.KindOf(err))
		}
	}
}

// What was stored before only canonical forms were can be restored and asked for.
func TestStoredLanguage(t *testing.T) {
	long := "sr-Latn-x-" + strings.Repeat("abcdefgh-", 3) + "ij"
	for _, row := range []struct{ tag, want, why string }{
		{"EN-us", "en-US", "what has a canonical form gets it"},
		{"iw", "he", "which one asks for, however it was written"},
		{"und-biske-1994-gb", "und-biske-1994-gb", "was once made of und-1994-biske-gb"},
		{"en-oxendict-heploc-419", "en-oxendict-heploc-419", "was once made of en-heploc-oxendict-419"},
		{"en-t-und", "en-t-und", "was once made of en-t-jp-m0-und"},
		{long, long, "39 bytes, once made of 34"},

		{"", "", "empty"},
		{"englisch", "", "a misspelt language is none"},
		{"pt-english", "", "nor is one of a misspelt region"},
		{"en/5", "", "would be two parts of a key"},
		{"en--gb", "", "an empty subtag"},
		{"e-gb", "", "a language of one letter"},
		{"en-x-" + strings.Repeat("abcdefgh-", 6) + "abcde", "en-x-" + strings.Repeat("abcdefgh-", 6) + "abcde", "64 bytes, as long as any"},
		{"en-x-" + strings.Repeat("abcdefgh-", 6) + "abcdef", "", "65 bytes"},
		{"en-x-" + strings.Repeat("abcdefgh-", 7) + "a", "", "longer than any that was stored"},
	} {
		got, err := comment.StoredLanguage(row.tag)
		if got != comment.Language(row.want) || (err == nil) != (row.want != "") {
			t.Errorf("%q is %q, %v; want %q: %s", row.tag, got, err, row.want, row.why)
		}
	}
}

// A language that was read reads back as itself, wherever languages are read, and can be a part of
// a key.
func FuzzLanguage(f *testing.F) {
	for _, tag := range []string{
		"en", "EN-us", "pt_BR", "zh-cmn-hans", "zh-min", "i-klingon", "en-GB-oed", "sgn-BE-FR", "de-1996-1901", "x-foo",
		"und-1994-biske-gb", "en-heploc-oxendict-419", "en-t-jp-m0-und", "en-u-ca-gregory-t-de", "sh-x-abcdefgh-abcdefgh-abcdefgh-ij",
		"und-biske-1994-gb", "en/5", "en-a-bbb-x-a-ccc", "root", "ar-arb", "qaa-Qaaa-QM", "sh-Cyrl",
	} {
		f.Add(tag)
	}
	f.Fuzz(func(t *testing.T, tag string) {
		if language, err := comment.ParseLanguage(tag); err == nil {
			again, err := comment.ParseLanguage(string(language))
			if again != language || err != nil || len(language) > 35 {
				t.Fatalf("%q is %q, which is %q, %v", tag, language, again, err)
			}
		}
		if language, err := comment.StoredLanguage(tag); err == nil {
			again, err := comment.StoredLanguage(string(language))
			if again != language || err != nil || strings.ContainsFunc(string(language), harmful) {
				t.Fatalf("%q is %q, which is %q, %v", tag, language, again, err)
			}
		}
	})
}

func harmful(r rune) bool {
	return !strings.ContainsRune("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", r)
}
