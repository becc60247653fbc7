package terminal

import (
	"io"
	"os"
)

// Style colors text when it is true, and returns it unchanged when it is false.
type Style bool

// StyleOf returns the style of an output: colored on a terminal, unless NO_COLOR is set
// (https://no-color.org).
func StyleOf(out io.Writer) Style {
	return Style(Is(out) && os.Getenv("NO_COLOR") == "")
}

// Error marks the beginning of an error message: bold red.
func (s Style) Error(text string) string { return s.paint("1;31", text) }

// Stars marks a rating: yellow.
func (s Style) Stars(text string) string { return s.paint("33", text) }

func (s Style) paint(code, text string) string {
	if !s {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
