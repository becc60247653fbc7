package moderation_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/moderation"
)

// FuzzRules opens any file of rules. It is a policy, or an error that begins with the path.
func FuzzRules(f *testing.F) {
	folder := f.TempDir()
	must.Do(f, os.WriteFile(filepath.Join(folder, "words.txt"), []byte("swindle"), 0o600))
	for _, text := range []string{allRules, "{\n\"ratingUpTo\": 5}", `{"languageNotIn": ["xx-1"]}`, `{"wordsFile": "/"}`, "\ufeff{}"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(folder, "rules.json")
		must.Do(t, os.WriteFile(path, text, 0o600))
		policy, err := moderation.Open("rules", path)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path) && !strings.HasPrefix(err.Error(), "wordsFile of the rules: ") {
				t.Errorf("the error does not say where it is: %v", err)
			}
			return
		}
		worst := comment.Comment{Rating: 1, Text: "a swindle of example.com"} // of no language
		otherWords := bytes.Contains(text, []byte("wordsFile")) && !bytes.Contains(text, []byte("words.txt"))
		if policy.Hold(worst, true) == nil && !otherWords {
			t.Errorf("%q holds nothing", text)
		}
	})
}

// FuzzWord makes any text a word, and finds it: in itself, between spaces, in capitals that fold
// back, and with invisible characters in it.
func FuzzWord(f *testing.F) {
	for _, word := range []string{"idiot", "rip-off", "买iPhone", "ǰ\u0323\u0336", "ΑΣ", "ｶﾞ*", "ﷺ", "\u1112\u1161\u11ab", "a\u3164\u0301"} {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if strings.ContainsAny(word, "\r\n") || strings.HasPrefix(strings.TrimSpace(word), "#") {
			return
		}
		policy, err := moderation.Open("rules", writeRules(t, `{"wordsFile": "words.txt"}`, word))
		if err != nil {
			return // FuzzRules and a table check the errors
		}
		for _, text := range []string{word, "x " + word + " x", interleave(word, "\u200b")} {
			if policy.Hold(comment.Comment{Rating: 5, Text: text}, false) == nil {
				t.Errorf("the word %q is not found in %q", word, text)
			}
		}
	})
}

// FuzzLink looks for links in any text. One that is found is found beside other words, too, and
// with invisible characters in it.
func FuzzLink(f *testing.F) {
	for _, text := range []string{"https://a", "www.é", "a@b.cd", "a.com/", "x[.]de", "a dot com", "пример.рф", "a.xn--", "a.-", "。com", "a." + strings.Repeat("b", 70)} {
		f.Add(text)
	}
	policy := open(f, `{"link": true}`, "")
	f.Fuzz(func(t *testing.T, text string) {
		found := func(text string) bool {
			return policy.Hold(comment.Comment{Rating: 5, Text: text}, false) != nil
		}
		held := found(text)
		if held && !found("x "+text+" x") {
			t.Errorf("%q has a link only when it stands alone", text)
		}
		if utf8.ValidString(text) && held != found(interleave(text, "\u200b")) {
			t.Errorf("%q has another answer with invisible characters", text)
		}
		if !found(text + " https://example.com") {
			t.Errorf("%q hides a link after it", text)
		}
	})
}

// interleave puts a text after each character of another.
func interleave(text, between string) string { return strings.Join(strings.Split(text, ""), between) }
