package command

import (
	"io"
	"os"

	"golang.org/x/term"
)

// style colours text for a terminal, and leaves it as it is elsewhere.
type style bool

// styleOf is that of an output: colours are for terminals that know them, unless NO_COLOR is set (https://no-color.org).
func styleOf(out io.Writer) style {
	return style(isTerminal(out) && os.Getenv("NO_COLOR") == "")
}

// isTerminal tells whether an output is a terminal on which more can be done than to write on.
func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
}

// columnsOf is how wide a terminal is, and defaultWidth elsewhere.
func columnsOf(out io.Writer) int {
	if file, ok := out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return defaultWidth
}

func (s style) paint(code, text string) string {
	if !s {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// error is for what begins the sentence about a failure.
func (s style) error(text string) string { return s.paint("1;31", text) }

// stars is for ratings.
func (s style) stars(text string) string { return s.paint("33", text) }
