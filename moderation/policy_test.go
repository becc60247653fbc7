package moderation_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/moderation"
)

// open returns the policy of a file of rules, beside a file of words.
func open(t testing.TB, rules, words string) moderation.Policy {
	t.Helper()
	policy := must.Get(moderation.Open("rules", writeRules(t, rules, words)))(t)
	return policy
}

// writeRules writes rules.json and words.txt into a new folder, and returns the path of the rules.
func writeRules(t testing.TB, rules, words string) string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "rules.json")
	for name, text := range map[string]string{path: rules, filepath.Join(folder, "words.txt"): words} {
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return path
}

const allRules = `{
  "link": true,
  "ratingUpTo": 2,
  "wordsFile": "words.txt",
  "languageNotIn": ["en", "pt", "zh-Hant"],
  "notVerified": true,
  "firstComment": true
}`

func TestHold(t *testing.T) {
	fine := comment.Comment{Rating: 3, Language: "en", Text: "Good coffee.", Verified: true}
	change := func(f func(*comment.Comment)) comment.Comment { c := fine; f(&c); return c }
	title := func(text string) comment.Comment {
		return change(func(c *comment.Comment) { c.Title = &text })
	}
	language := func(tag comment.Language) comment.Comment {
		return change(func(c *comment.Comment) { c.Language = tag })
	}
	policy := open(t, allRules, "swindle\n")
	for _, row := range []struct {
		why     string
		comment comment.Comment
		first   bool
		want    []comment.HoldReason
	}{
		{"no rule applies", fine, false, nil},
		{"a link in the text", change(func(c *comment.Comment) { c.Text = "see example.com" }), false, []comment.HoldReason{comment.HeldLink}},
		{"a link in the title", title("example.com"), false, []comment.HoldReason{comment.HeldLink}},
		{"a word in the text", change(func(c *comment.Comment) { c.Text = "A SWINDLE!" }), false, []comment.HoldReason{comment.HeldWord}},
		{"a word in the title", title("Swindle"), false, []comment.HoldReason{comment.HeldWord}},
		{"the highest rating that is held", change(func(c *comment.Comment) { c.Rating = 2 }), false, []comment.HoldReason{comment.HeldRating}},
		{"a part of a listed language", language("pt-BR"), false, nil},
		{"a listed part of a language", language("zh-Hant"), false, nil},
		{"a language of which a part is listed", language("zh"), false, []comment.HoldReason{comment.HeldLanguage}},
		{"a language that only begins like a listed one", language("ptx"), false, []comment.HoldReason{comment.HeldLanguage}},
		{"an unknown language", language("und"), false, []comment.HoldReason{comment.HeldLanguage}},
		{"a link in what a picture shows", change(func(c *comment.Comment) { c.Media = []comment.Media{{Path: "a.jpg", Alt: "example.com"}} }), false, []comment.HoldReason{comment.HeldLink}},
		{"a link in the author's name", change(func(c *comment.Comment) { c.Author.Name = "example.com" }), false, []comment.HoldReason{comment.HeldLink}},
		{"a word in the author's name", change(func(c *comment.Comment) { c.Author.Name = "Swindle" }), false, []comment.HoldReason{comment.HeldWord}},
		{"not verified", change(func(c *comment.Comment) { c.Verified = false }), false, []comment.HoldReason{comment.HeldUnverified}},
		{"the first comment", fine, true, []comment.HoldReason{comment.HeldFirst}},
		{
			"all rules, in the order of HoldReasons",
			comment.Comment{Rating: 1, Language: "de", Text: "swindle example.com"}, true,
			[]comment.HoldReason{comment.HeldLink, comment.HeldRating, comment.HeldWord, comment.HeldLanguage, comment.HeldUnverified, comment.HeldFirst},
		},
	} {
		check.Equal(t, row.want, policy.Hold(row.comment, row.first), row.why)
	}
}

// Each rule holds alone, and one that is left out does not.
func TestRulesApplyAlone(t *testing.T) {
	worst := comment.Comment{Rating: 1, Language: "de", Text: "swindle example.com"}
	for rules, want := range map[string]comment.HoldReason{
		`{"link": true, "notVerified": false}`: comment.HeldLink,
		`{"ratingUpTo": 1}`:                    comment.HeldRating,
		`{"wordsFile": "words.txt"}`:           comment.HeldWord,
		`{"languageNotIn": ["en"]}`:            comment.HeldLanguage,
		`{"notVerified": true}`:                comment.HeldUnverified,
		`{"firstComment": true}`:               comment.HeldFirst,
	} {
		policy := open(t, rules, "swindle\n")
		check.Equal(t, []comment.HoldReason{want}, policy.Hold(worst, true), rules)
		if policy.NeedsFirst() != (want == comment.HeldFirst) {
			t.Errorf("%s: NeedsFirst is %v", rules, policy.NeedsFirst())
		}
	}
}

func TestPoliciesWithoutRules(t *testing.T) {
	worst := comment.Comment{Rating: 1, Text: "example.com"}
	for mode, want := range map[string][]comment.HoldReason{"publish": nil, "hold": {comment.HeldAlways}} {
		policy := must.Get(moderation.Open(mode, ""))(t)
		if diff := cmp.Diff(want, policy.Hold(worst, true)); diff != "" || policy.NeedsFirst() {
			t.Errorf("%s: NeedsFirst is %v (-want +got)\n%s", mode, policy.NeedsFirst(), diff)
		}
	}
}
