package layout

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
)

// Counts read back as they were written, including the shared row and impossible counts. Text that
// is read in has no other form.
func TestGridReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stats := commenttest.AnyStats(t)
		if stats != nil && rapid.Bool().Draw(t, "shared") {
			stats[comment.OtherLanguages] = comment.Row{Counts: comment.Counts{1, 2}}
		}
		maps.DeleteFunc(stats, func(_ comment.Language, counts comment.Row) bool { return counts == comment.Row{} })
		text := GridText(stats)
		got, err := ParseGrid(text)
		if diff := cmp.Diff(stats, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
			t.Fatalf("%q: %v %s", text, err, diff)
		}
		damaged := text
		if len(text) > 0 {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			other := rapid.SampledFrom(strings.Split("|+|-|0|7| |,|=|e|*|\x00|00|=1|,1", "|")).Draw(t, "other")
			damaged = text[:at] + other + text[at+rapid.IntRange(0, 1).Draw(t, "gone"):]
		}
		if again, err := ParseGrid(damaged); err == nil && GridText(again) != damaged {
			t.Fatalf("%q reads as %v", damaged, again)
		}
	})
}

// A text that GridText would not write is damaged.
func TestDamagedGrids(t *testing.T) {
	for text, why := range map[string]string{
		" ":                              "no row",
		"private words":                  "no counts",
		"de=1,2,3,4":                     "too few counts",
		"de=1,2,3,4,5,6":                 "too many counts",
		"de=1,2,3,4,5:6":                 "a form of a later release",
		"de=1,2,3,4,5 ":                  "a space at the end",
		"de=1,2,3,4,5  en=1,2,3,4,5":     "two spaces",
		"en=1,2,3,4,5 de=1,2,3,4,5":      "not in order",
		"de=1,2,3,4,5 de=1,2,3,4,5":      "a language twice",
		"=1,2,3,4,5":                     "no language",
		"d e=1,2,3,4,5":                  "a space in a language",
		"d_e=1,2,3,4,5":                  "no tag",
		"de=01,2,3,4,5":                  "a zero too many",
		"de=+1,2,3,4,5":                  "a plus sign",
		"de=-0,2,3,4,5":                  "a minus sign of zero",
		"de=,2,3,4,5":                    "an empty count",
		"de=-,2,3,4,5":                   "a sign alone",
		"de=0,0,0,0,0":                   "a language without comments",
		"de=1,2,3,4,9223372036854775808": "a count that no integer holds",
	} {
		if stats, err := ParseGrid(text); err == nil || strings.Contains(err.Error(), "words") {
			t.Errorf("%s: %q reads as %v, %v", why, text, stats, err)
		}
	}
}
