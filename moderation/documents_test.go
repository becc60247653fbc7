package moderation_test

import (
	"strings"
	"testing"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/moderation"
)

const manual = "docs/operate/moderation.md"

// exampleFiles are the rules, the error and the words that the manual shows.
func exampleFiles(t *testing.T) (rules, message, words string) {
	t.Helper()
	blocks := doctest.Read(t, manual).Blocks()
	if len(blocks) < 3 {
		t.Fatalf("%s has %d blocks, want first the rules, an error and the words", manual, len(blocks))
	}
	return blocks[0].Text, blocks[1].Text, blocks[2].Text
}

// The manual's files are read, and its error is what a misspelt rule says.
func TestFilesOfTheManual(t *testing.T) {
	rules, message, words := exampleFiles(t)
	if policy := open(t, rules, words); !policy.NeedsFirst() {
		t.Error("the rule of first comments is not read")
	}
	_, err := moderation.Open("rules", writeRules(t, strings.Replace(rules, "ratingUpTo", "ratingUpto", 1), words))
	if err == nil || !strings.HasSuffix(err.Error(), "/"+strings.TrimSpace(message)) {
		t.Errorf("the error is %v, the manual has %s", err, message)
	}
}

// Each row of the manual's words finds what it says, and nothing else.
func TestWordsOfTheManual(t *testing.T) {
	rows := doctest.Read(t, manual).Table("line")
	if len(rows) == 0 {
		t.Fatal("no table of words")
	}
	for _, row := range rows {
		policy := open(t, `{"wordsFile": "words.txt"}`, strings.Trim(row["line"], "`"))
		for column, held := range map[string]bool{"finds": true, "does not find": false} {
			for i, text := range strings.Split(row[column], `"`) {
				if i%2 == 0 {
					continue // between the quoted texts
				}
				if reasons := policy.Hold(comment.Comment{Rating: 5, Text: text}, false); (reasons != nil) != held {
					t.Errorf("the word %s in %q: held for %v", row["line"], text, reasons)
				}
			}
		}
	}
}

// So does each code in the manual's table of links.
func TestLinksOfTheManual(t *testing.T) {
	policy := open(t, `{"link": true}`, "")
	checked := 0
	for _, row := range doctest.Read(t, manual).Table("finds") {
		if row["line"] != "" {
			continue
		}
		for column, held := range map[string]bool{"finds": true, "does not find": false} {
			for i, text := range strings.Split(row[column], "`") {
				if i%2 == 0 {
					continue
				}
				checked++
				if reasons := policy.Hold(comment.Comment{Rating: 5, Text: text}, false); (reasons != nil) != held {
					t.Errorf("%q is held for %v", text, reasons)
				}
			}
		}
	}
	if checked < 10 {
		t.Errorf("only %d examples were found", checked)
	}
}
