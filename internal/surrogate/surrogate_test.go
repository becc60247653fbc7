package surrogate_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/surrogate"
)

// Half of a pair is what Go's decoder replaces by U+FFFD.
func TestHalfInJSON(t *testing.T) {
	pieces := []string{`\\`, `\"`, `\n`, `\u00e9`, `\uD83D`, `\ude00`, `\uD83D\uDE00`, "é", "😀", "a", "u", "D83D"}
	rapid.Check(t, func(t *rapid.T) {
		text := `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(t, "text"), "") + `"`
		var decoded string
		if err := json.Unmarshal([]byte(text), &decoded); err != nil {
			t.Fatal(err)
		}
		if got, want := surrogate.HalfInJSON(text), strings.Contains(decoded, "\uFFFD"); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	})
}
