package command_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
)

// The help of all commands at 80 columns is in testdata/help.golden. A command's own flags come
// before those of the engine.
func TestHelp(t *testing.T) {
	t.Setenv("COLUMNS", "80")
	var got bytes.Buffer
	for _, name := range []string{
		"", "serve", "import", "export", "stream", "show", "stats", "explain", "rebuild", "verify", "doctor", "cost", "health", "author", "hooks", "pages", "version", "completion", "man", "help",
	} {
		asked := strings.Fields(name + " --help")
		status, text, stderr := talkback(t.Context(), asked...)
		if status != 0 || stderr != "" {
			t.Errorf("%s: status %d, %s", asked, status, stderr)
		}
		if _, again, _ := talkback(t.Context(), strings.Fields("help "+name)...); again != text {
			t.Errorf("help %s says otherwise than %s", name, asked)
		}
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(strings.TrimSpace(line)) > 80 {
				t.Errorf("%s: the line is too wide: %s", asked, line)
			}
		}
		own, engine := strings.Index(text, "\nFlags:"), strings.Index(text, "\nEngine and table:")
		if own < 0 || engine < own {
			t.Errorf("%s: the engine's flags come before its own", asked)
		}
		got.WriteString("# talkback " + strings.Join(asked, " ") + "\n" + text + "\n")
	}
	goldentest.Compare(t, "testdata/help.golden", got.Bytes())
}
