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

// A narrow terminal breaks lines between words; a pipe, even from one, gets the line unchanged.
func TestNarrowTerminal(t *testing.T) {
	t.Parallel()
	program := binary(t)
	const wide, narrow = `talkback: there is no command "verfy"; did you mean verify?; see talkback --help`, `talkback: there is no command "verfy";
  did you mean verify?; see talkback
  --help`
	for command, want := range map[string]string{
		"stty cols 40; " + program + " verfy":            narrow,
		"stty cols 40; " + program + " verfy 2>&1 | cat": wide,
		"stty cols 90; " + program + " verfy":            wide,
	} {
		out := onTerminal(t, command, "TERM=xterm", "NO_COLOR=1")
		if got := strings.TrimSpace(strings.ReplaceAll(out, "\r", "")); got != want {
			t.Errorf("%s: %s", command, got)
		}
	}
}

// Colours are for terminals, and for users who ask for them; a file gets none.
func TestColours(t *testing.T) {
	t.Parallel()
	program := binary(t)
	for _, row := range []struct {
		why     string
		set     []string
		command string
		colours bool
	}{
		{"a terminal", []string{"TERM=xterm", "NO_COLOR="}, program + " sing", true},
		{"a terminal of someone who wants none", []string{"TERM=xterm", "NO_COLOR=1"}, program + " sing", false},
		{"a terminal that knows none", []string{"TERM=dumb", "NO_COLOR="}, program + " sing", false},
		{"a pipe", []string{"TERM=xterm", "NO_COLOR="}, program + " sing 2>&1 | cat", false},
	} {
		out := onTerminal(t, row.command, row.set...)
		if !strings.Contains(out, `there is no command "sing"`) || strings.Contains(out, "\x1b[") != row.colours {
			t.Errorf("%s: %q", row.why, out)
		}
	}
}
