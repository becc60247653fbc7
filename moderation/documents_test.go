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

// checkExamples checks the examples in the cells of a row, between quotes, and returns their
// number.
func checkExamples(t *testing.T, policy moderation.Policy, row map[string]string, quote string) (examples int) {
	t.Helper()
	for column, held := range map[string]bool{"finds": true, "does not find": false} {
		for i, text := range strings.Split(row[column], quote) {
			if i%2 == 0 {
				continue // between the examples
			}
			examples++
			if reasons := policy.Hold(comment.Comment{Rating: 5, Text: text}, false); (reasons != nil) != held {
				t.Errorf("%s: %q is held for %v", row["line"], text, reasons)
			}
		}
	}
	return examples
}

// Each row of the manual's words finds what it says, and nothing else. So does its table of links.
func TestExamplesOfTheManual(t *testing.T) {
	words, links, ofLinks := 0, 0, open(t, `{"link": true}`, "")
	for _, row := range doctest.Read(t, manual).Table("finds") {
		if line := strings.Trim(row["line"], "`"); line != "" {
			words += checkExamples(t, open(t, `{"wordsFile": "words.txt"}`, line), row, `"`)
		} else {
			links += checkExamples(t, ofLinks, row, "`")
		}
	}
	if words < 10 || links < 10 {
		t.Errorf("only %d examples of words and %d of links were found", words, links)
	}
}
