// Package output writes for people: text that is safe to print, lines of a readable width, colors,
// and progress. A file or a pipe gets plain text. It also writes files that exist in full or not at
// all.
package output

import (
	"io"
	"os"

	"golang.org/x/term"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// English prints numbers as 12,345.
var English = message.NewPrinter(language.English)

// defaultColumns is the width of an output that is not a terminal.
const defaultColumns = 80

// Is reports whether an output is a terminal that understands escape sequences.
func Is(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// Columns returns the width of a terminal, and 80 for any other output.
func Columns(out io.Writer) int {
	if columns, known := width(out); known {
		return columns
	}
	return defaultColumns
}

// width returns the width of an output, if it is a terminal that knows its width.
func width(out io.Writer) (columns int, known bool) {
	file, ok := out.(*os.File)
	if !ok {
		return 0, false
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	return columns, err == nil && columns > 0
}
