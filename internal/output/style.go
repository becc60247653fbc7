package output

import (
	"io"
	"os"
	"regexp"
	"strings"
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

// Head marks a heading: bold.
func (s Style) Head(text string) string { return s.paint("1", text) }

// Good marks what is as it should be: green.
func (s Style) Good(text string) string { return s.paint("32", text) }

// Bad marks what is wrong: red.
func (s Style) Bad(text string) string { return s.paint("31", text) }

// Notice marks what a reader should not miss: yellow.
func (s Style) Notice(text string) string { return s.paint("33", text) }

// Faint marks what matters least.
func (s Style) Faint(text string) string { return s.paint("2", text) }

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// styling is what a Style adds to a text.
var styling = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Unstyled returns a text without what a Style added to it.
func Unstyled(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return styling.ReplaceAllString(text, "")
}
