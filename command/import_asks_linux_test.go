package command_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/dynamotest"
)

// On a terminal, nothing is written without a yes. A missing engine is noticed only after that.
func TestImportAsks(t *testing.T) {
	t.Chdir(t.TempDir())
	file := write(t, "reviews.csv", fewReviews)
	for answer, says := range map[string]string{"\n": "the answer was not y", "no\n": "the answer was not y", "Yes\n": "127.0.0.1"} {
		status, said := answering(t, answer, "import", file, "--force", "--endpoint", "http://127.0.0.1:1")
		if status != 1 || !strings.Contains(said, "Import these rows? [y/N]") || !strings.Contains(said, says) {
			t.Errorf("%q: status %d, %s", answer, status, said)
		}
	}
}

// Nor is an import undone without a yes, and the cost is shown first.
func TestUndoAsks(t *testing.T) {
	i := newImporter(t, dynamotest.Dynoxide(t))
	file := write(t, "cups.csv", threeReviews)
	i.want(summary(3, 3, 0, 0, 0), file, "--language", "en")
	status, said := answering(t, "\n", "import", "--endpoint", i.endpoint, "--table", i.table, "--undo", "cups.csv")
	for _, want := range []string{"cups.csv added 3 comments. To find them, this reads the whole table", "nothing was removed: the answer was not y"} {
		if status != 1 || !strings.Contains(said, want) {
			t.Errorf("status %d, %s; want %q", status, said, want)
		}
	}
	if strings.Contains(said, "read units") {
		t.Errorf("an engine that does not measure its table is said to read it for nothing: %s", said)
	}
	i.want("3 comments are removed\n", "--undo", "cups.csv")
}

// answering runs a command on a terminal on which an answer was typed.
func answering(t *testing.T, answer string, arguments ...string) (status int, said string) {
	t.Helper()
	keyboard, screen := pseudoTerminal(t)
	must.Get(io.WriteString(keyboard, answer))(t)
	go func() { _, _ = io.Copy(io.Discard, keyboard) }() // until the terminal is closed
	var all bytes.Buffer
	status = command.Main(t.Context(), arguments, command.Terminal{In: screen, Out: screen, Err: &all, Logger: slog.New(slog.DiscardHandler)})
	return status, all.String()
}

// pseudoTerminal returns both ends of a terminal.
func pseudoTerminal(t *testing.T) (keyboard, screen *os.File) {
	t.Helper()
	t.Setenv("TERM", "xterm")
	keyboard = must.Get(os.OpenFile("/dev/ptmx", os.O_RDWR, 0))(t)
	t.Cleanup(func() { _ = keyboard.Close() })
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	must.Do(t, err)
	screen = must.Get(os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0))(t)
	t.Cleanup(func() { _ = screen.Close() })
	return keyboard, screen
}
