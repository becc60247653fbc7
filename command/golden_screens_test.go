package command_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/talkback/talkback/command"
	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/output"
)

// The output of commands in a file and on terminals of some widths is in testdata/screens.golden.
// Colors are shown at 80 columns, with «1m» for an escape.
func TestScreens(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, screen := range []output.Screen{{}, {Columns: 40}, {Columns: 60}, {Columns: 80, Style: true}} {
		fmt.Fprintf(&got, "======== %+v\n\n%s\n", screen, command.Screens(screen))
	}
	shown := strings.NewReplacer("\x1b[0m", "»", "\x1b[", "«").Replace(got.String())
	goldentest.Compare(t, "testdata/screens.golden", []byte(shown))
}
