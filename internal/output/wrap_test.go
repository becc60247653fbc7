package output

import (
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest/check"
)

func TestWrap(t *testing.T) {
	for _, row := range []struct {
		text string
		want []string
		why  string
	}{
		{"", []string{""}, "nothing is an empty line"},
		{"one two", []string{"one two"}, "it fits exactly"},
		{"one two three", []string{"one two", "three"}, "the space goes with the break"},
		{"seven  days", []string{"seven", "days"}, "all spaces"},
		{"extraordinary", []string{"extraor", "dinary"}, "a word that is too wide"},
		{"a extraordinary", []string{"a", "extraor", "dinary"}, "such a word begins a line"},
		{"日本語です。", []string{"日本語", "です。"}, "two columns each, and no full stop at the beginning"},
		{"é👩‍👧👩‍👧👩‍👧👩‍👧", []string{"é👩‍👧👩‍👧👩‍👧", "👩‍👧"}, "what is one picture stays one"},
	} {
		check.Equal(t, row.want, Wrap(row.text, 7), row.why)
	}
}

// No line is too wide unless a single character is, and nothing is lost but spaces.
func TestWrapKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := Printable(rapid.String().Draw(t, "text") + rapid.StringMatching(`[a-z ]{0,40}`).Draw(t, "words"))
		width := rapid.IntRange(2, 30).Draw(t, "width")
		lines := Wrap(text, width)
		for _, line := range lines {
			if wide := uniseg.StringWidth(line); wide > width && uniseg.GraphemeClusterCount(strings.TrimRight(line, " ")) > 1 && uniseg.StringWidth(strings.TrimRight(line, " ")) > width {
				t.Fatalf("%q takes %d columns of %d", line, wide, width)
			}
		}
		spaceless := strings.NewReplacer(" ", "")
		if got, want := spaceless.Replace(strings.Join(lines, "")), spaceless.Replace(text); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}

// What a terminal would obey is shown instead.
func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"\x1b]0;title\a\x1b[2J": `\u001b]0;title\u0007\u001b[2J`,
		"a\rb\x7f\u0085\x9b1m":  `a\u000db\u007f\u0085` + "\ufffd1m",
		"\u009b31m":             `\u009b31m`,
		"\u202eabc\u2066":       `\u202eabc\u2066`,
		"a\tb":                  "a    b",
		"👩‍👧 日本 e\u0301 \u00a0": "👩‍👧 日本 e\u0301 \u00a0",
		"\u2028\ufeff":          `\u2028\ufeff`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

// One of a thing has a form of its own.
func TestCount(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 replies", 1: "1 reply", 2: "2 replies", 12345: "12,345 replies"} {
		if got := Count(n, "reply", "replies"); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
