package command_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/provisiontest"
)

// onTerminal returns what a shell prints on a terminal.
func onTerminal(t *testing.T, command string, set ...string) string {
	t.Helper()
	run := exec.Command(provisiontest.Program(t, "script", "what a terminal shows"), "-qec", command, os.DevNull)
	run.Env = append(os.Environ(), set...)
	out, _ := run.CombinedOutput() // its status is the command's, or that of cat
	return string(out)
}

// A terminal has colours, unless its user wants none, and a narrow one breaks lines between words.
// A pipe gets the line unchanged, even from a terminal.
func TestTerminals(t *testing.T) {
	t.Parallel()
	program := binary(t)
	const wide, coloured, narrow = `talkback: there is no command "verfy"; did you mean verify?; see talkback --help`, "\x1b[1;31m" + `talkback:` + "\x1b[0m" + ` there is no command "verfy"; did you mean verify?; see talkback --help`, `talkback: there is no command "verfy";
  did you mean verify?; see talkback
  --help`
	for _, row := range []struct{ why, terminal, noColor, command, want string }{
		{"a terminal", "xterm", "", "stty cols 90; " + program + " verfy", coloured},
		{"of someone who wants no colours", "xterm", "1", "stty cols 90; " + program + " verfy", wide},
		{"that knows none", "dumb", "", "stty cols 90; " + program + " verfy", wide},
		{"a narrow one", "xterm", "1", "stty cols 40; " + program + " verfy", narrow},
		{"a pipe", "xterm", "", "stty cols 40; " + program + " verfy 2>&1 | cat", wide},
	} {
		out := onTerminal(t, row.command, "TERM="+row.terminal, "NO_COLOR="+row.noColor)
		if got := strings.TrimSpace(strings.ReplaceAll(out, "\r", "")); got != row.want {
			t.Errorf("%s: %q", row.why, got)
		}
	}
}
