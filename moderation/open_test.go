package moderation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/moderation"
)

// Errors of flags and files say where the error is, and what to change.
func TestOpenRefuses(t *testing.T) {
	for _, row := range []struct{ why, mode, rules, words, want string }{
		{"an unknown policy", "strict", "", "", `--moderation is publish, hold or rules, not "strict"`},
		{"a file that has no effect", "hold", `{"link": true}`, "", "--moderation-rules has no effect with --moderation hold: give --moderation rules, or leave the file out"},
		{"nor here", "publish", `{"link": true}`, "", "--moderation-rules has no effect with --moderation publish: give --moderation rules, or leave the file out"},
		{"no JSON", "rules", "link = true", "", `rules.json:1: the file is not JSON: invalid character 'l'`},
		{"no object", "rules", "[]", "", `rules.json:1: the file is not a JSON object, such as {"link": true}`},
		{"a comma too many", "rules", "{\n  \"link\": true,\n}", "", "rules.json:2: the file is not JSON"},
		{"more than an object", "rules", "{\"link\": true}\n{}", "", "rules.json:2: the file is not JSON"},
		{"an unknown rule", "rules", "{\n  \"links\": true\n}", "", `rules.json:2: there is no rule "links": the rules are link, ratingUpTo,`},
		{"another case", "rules", `{"Link": true}`, "", `rules.json:1: there is no rule "Link"`},
		{"a rule twice", "rules", "{\n  \"link\": true,\n  \"link\": false\n}", "", `rules.json:3: "link" stands twice: remove one of them`},
		{"no boolean", "rules", `{"link": "yes"}`, "", "rules.json:1: link takes true or false"},
		{"no stars", "rules", `{"ratingUpTo": 0}`, "", "rules.json:1: ratingUpTo takes 1 to 4"},
		{"all ratings", "rules", `{"ratingUpTo": 5}`, "", "--moderation hold holds all"},
		{"no languages, which would hold all", "rules", `{"languageNotIn": []}`, "", "rules.json:1: languageNotIn takes a list"},
		{"no language", "rules", "{\n\"languageNotIn\": [\"en\", \"german\"]}", "", `rules.json:2: languageNotIn: "german" is not a language`},
		{"no path", "rules", `{"wordsFile": ""}`, "", "rules.json:1: wordsFile takes the path"},
		{"no rule", "rules", "{}", "", "rules.json holds no rule: add some of link,"},
		{"rules that are off", "rules", `{"link": false}`, "", "rules.json holds no rule"},
		{"a missing file of words", "rules", `{"wordsFile": "none.txt"}`, "", "none.txt cannot be read (no such file"},
		{"too large", "rules", strings.Repeat(" ", 64<<10+1), "", "rules.json has more than 65536 bytes, which is all that is read: make it shorter"},
		{"no words", "rules", `{"wordsFile": "words.txt"}`, "# none\n\n", "words.txt holds no words: write one on each line"},
		{"no letter", "rules", `{"wordsFile": "words.txt"}`, "fraud\n\n$$$\n", `words.txt:3: "$$$" must begin and end with a letter`},
		{"a sign that texts do not keep", "rules", `{"wordsFile": "words.txt"}`, "a$$", `words.txt:1: "a$$" must begin and end with a letter`},
		{"a sign that separates words", "rules", `{"wordsFile": "words.txt"}`, "$$a", `words.txt:1: "$$a" must begin and end with a letter`},
		{"a star within", "rules", `{"wordsFile": "words.txt"}`, "f*ck", `words.txt:1: "f*ck" has a star within`},
		{"nothing but a star", "rules", `{"wordsFile": "words.txt"}`, "*", "words.txt:1: "},
		{"Latin 1", "rules", `{"wordsFile": "words.txt"}`, "na\xefve", "words.txt:1: the word is not valid UTF-8: save the file as UTF-8"},
		{"a long word", "rules", `{"wordsFile": "words.txt"}`, strings.Repeat("ß", 32) + "a", "words.txt:1: the word has 65 characters; at most 64 are taken"},
		{"many words", "rules", `{"wordsFile": "words.txt"}`, manyWords(10_001), "words.txt:10001: there are more than 10000 words: remove some"},
		{"a large file of words", "rules", `{"wordsFile": "words.txt"}`, strings.Repeat("#", 1<<20+1), "words.txt has more than 1048576 bytes"},
	} {
		path := ""
		if row.rules != "" {
			path = writeRules(t, row.rules, row.words)
		}
		_, err := moderation.Open(row.mode, path)
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: the error is %v, want it to hold %q", row.why, err, row.want)
		}
	}
}

func TestOpenNeedsItsFile(t *testing.T) {
	for path, want := range map[string]string{
		"":                                      "--moderation rules needs a file of rules: name it by --moderation-rules FILE",
		filepath.Join(t.TempDir(), "none.json"): "--moderation-rules: ",
	} {
		if _, err := moderation.Open("rules", path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("the error of %q is %v, want %q", path, err, want)
		}
	}
}

// Files of other editors are read: with a byte order mark, and with the ends of lines of Windows.
func TestFilesOfOtherEditors(t *testing.T) {
	policy := open(t, "\ufeff{\r\n\"wordsFile\": \"words.txt\"}", "\ufeffswindle\r\n# fraud\r\nrip off\r\n")
	for text, held := range map[string]bool{"a swindle": true, "a rip-off": true, "fraud": false} {
		if reasons := policy.Hold(comment.Comment{Rating: 5, Text: text}, false); (reasons != nil) != held {
			t.Errorf("%q is held for %v", text, reasons)
		}
	}
}

// The path of a file of words starts at the folder of the rules, or at the root.
func TestPathOfWords(t *testing.T) {
	words := filepath.Join(t.TempDir(), "elsewhere.txt")
	if err := os.WriteFile(words, []byte("swindle"), 0o600); err != nil {
		t.Fatal(err)
	}
	policy := open(t, `{"wordsFile": "`+filepath.ToSlash(words)+`"}`, "")
	if reasons := policy.Hold(comment.Comment{Rating: 5, Text: "swindle"}, false); reasons == nil {
		t.Error("the words of an absolute path hold nothing")
	}
}
