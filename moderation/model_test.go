package moderation_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
)

// unit is what a piece of a text is to the model: a letter of a script with spaces, one of a script
// without, or a gap between words.
type unit struct {
	letter rune // 0 for a gap
	free   bool // of a script without spaces
}

// pieces are the units of what texts are made of. An invisible piece is none.
var pieces = map[string][]unit{
	"a": {{letter: 'a'}}, "A": {{letter: 'a'}}, "ａ": {{letter: 'a'}}, "𝐚": {{letter: 'a'}},
	"b": {{letter: 'b'}}, "B\u0336": {{letter: 'b'}}, "\ufb01": {{letter: 'f'}, {letter: 'i'}},
	"é": {{letter: 'é'}}, "E\u0301": {{letter: 'é'}}, "1": {{letter: '1'}},
	"买": {{letter: '买', free: true}}, "ｱ": {{letter: 'ア', free: true}}, "👍": {{letter: '👍', free: true}},
	"\u200b": nil, "\u00ad": nil, "\u3164": nil,
	" ": {{}}, "-": {{}}, "。": {{}},
}

// unitsOf returns the units of a text that is made of pieces. Gaps in a row are one.
func unitsOf(text []string) []unit {
	var out []unit
	for _, piece := range text {
		for _, u := range pieces[piece] {
			if u != (unit{}) || len(out) == 0 || out[len(out)-1] != u {
				out = append(out, u)
			}
		}
	}
	return out
}

// matches reports whether a text from its unit at on goes on as a word does, and how far. Between
// scripts with and without spaces, a gap may stand or not.
func matches(text, word []unit) (length int, found bool) {
	for i := range word {
		if length < len(text) && word[i].letter != 0 && text[length].letter == 0 && i > 0 && word[i-1].letter != 0 && word[i].free != word[i-1].free {
			length++
		}
		if word[i].letter == 0 && length < len(text) && text[length].letter != 0 && word[i-1].free != word[i+1].free {
			continue
		}
		if length == len(text) || text[length] != word[i] {
			return 0, false
		}
		length++
	}
	return length, true
}

// holds is the naive model of a word in a text: at any place, with a boundary where it begins or
// ends with a letter of a script with spaces.
func holds(text, word []unit, star bool) bool {
	inWord := func(at int) bool { return at >= 0 && at < len(text) && text[at].letter != 0 && !text[at].free }
	for at := range text {
		length, found := matches(text[at:], word)
		begins := word[0].free || !inWord(at-1)
		ends := star || word[len(word)-1].free || !inWord(at+length)
		if found && begins && ends {
			return true
		}
	}
	return false
}

func TestWordsAsByTheModel(t *testing.T) {
	all := slices.Sorted(maps.Keys(pieces))
	seen := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) {
		texts := rapid.SliceOfN(rapid.SampledFrom(all), 0, 6)
		word := rapid.SliceOfN(rapid.SampledFrom(all), 1, 4).Filter(func(word []string) bool {
			units := unitsOf(word)
			return len(units) > 0 && units[0].letter != 0 && units[len(units)-1].letter != 0
		}).Draw(r, "word")
		text := append(append(texts.Draw(r, "before"), rapid.SampledFrom([][]string{word, nil}).Draw(r, "within")...), texts.Draw(r, "after")...)
		star := rapid.SampledFrom([]string{"", "*"}).Draw(r, "star")

		policy := open(t, `{"wordsFile": "words.txt"}`, strings.Join(word, "")+star+"\n")
		want := holds(unitsOf(text), unitsOf(word), star != "")
		got := policy.Hold(comment.Comment{Rating: 5, Text: strings.Join(text, "")}, false) != nil
		if got != want {
			r.Fatalf("the word %q%s in %q: %v, want %v", word, star, text, got, want)
		}
		seen[want]++
	})
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("words were found %d times, and not found %d times", seen[true], seen[false])
	}
}
