// Package output writes for people: text that is safe to print, lines of a readable width, colors,
// and progress. A file or a pipe gets plain text. It also writes files that exist in full or not at
// all.
package output

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// Readable is the longest line that is pleasant to read, in columns.
const Readable = 100

// leastColumns is the width below which lines are laid out as if the terminal had it.
const leastColumns = 20

// Screen says how text is laid out on an output.
type Screen struct {
	Style
	// Columns is the width of a terminal. It is 0 for a file or a pipe, where a program may read the
	// lines: they are as long as they are.
	Columns int
}

// ScreenOf returns the screen of an output.
func ScreenOf(out io.Writer) Screen {
	columns, known := width(out)
	if known {
		columns = max(columns, leastColumns)
	}
	return Screen{Style: StyleOf(out), Columns: columns}
}

// Fold breaks the lines of a printable text, styled or not, that are wider than the screen or hard
// to read. It breaks between words only, so that an id can be copied; the terminal breaks one that
// is wider than itself. The rest of a line is indented by two columns more than its beginning.
func (s Screen) Fold(text string) string {
	if s.Columns == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(words)]
		lines[i] = indent + s.fill(strings.Split(words, " "), " ", indent+"  ", len(indent))
	}
	return strings.Join(lines, "\n")
}

// Hang formats a line of a name, styled or not, and its printable value, which begins in a column.
// Its further lines begin there too, but always in the left half of the screen.
func (s Screen) Hang(name string, column int, value string) string {
	if s.Columns > 0 {
		column = min(column, s.Columns/2)
	}
	name += strings.Repeat(" ", max(1, column-Width(name)))
	if s.Columns == 0 {
		return name + value + "\n"
	}
	return name + s.fill(strings.Split(value, " "), " ", strings.Repeat(" ", column), Width(name)) + "\n"
}

// fill joins parts by a separator. It begins a line with an indent where the next part does not
// fit. columns is how many columns of the first line are taken.
func (s Screen) fill(parts []string, separator, indent string, columns int) string {
	most := min(s.Columns, Readable)
	ending := strings.TrimRight(separator, " ")
	var out strings.Builder
	for i, part := range parts {
		wide := Width(part)
		if i < len(parts)-1 {
			wide += len(ending)
		}
		space := len(separator) - len(ending)
		switch {
		case i == 0:
		case columns+space+wide > most && columns > len(indent):
			out.WriteString(ending + "\n" + indent)
			columns = len(indent)
		default:
			out.WriteString(separator)
			columns += space
		}
		out.WriteString(part)
		columns += wide
	}
	return out.String()
}

// Width returns how many columns a printable text takes, styled or not.
func Width(text string) int { return uniseg.StringWidth(Unstyled(text)) }

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

// joiners change the shape of the characters beside them and do nothing else.
const joiners = "\u200c\u200d"

// tab stands for a tab, whose width depends on where it stands.
const tab = "    "

// Printable makes untrusted text safe to print. Control characters, and characters that would
// reorder the text around them, become their code, such as \u001b; a tab becomes spaces.
func Printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			out.WriteString(tab)
		case IsPrintable(r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// IsPrintable reports whether a terminal shows a character and does nothing else.
func IsPrintable(r rune) bool { return unicode.IsGraphic(r) || strings.ContainsRune(joiners, r) }

// PrintableLines is like Printable, but keeps line breaks.
func PrintableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Printable(line)
	}
	return strings.Join(lines, "\n")
}

// Wrap breaks a printable text into lines of at most width columns, at the line breaking
// opportunities of Unicode Standard Annex 14. A word that is wider than a line is broken between
// any two characters. Spaces at the end of a line do not count. There is always at least one line.
func Wrap(text string, width int) []string {
	w := wrapping{most: width}
	var word string
	wide := 0
	for state := -1; len(text) > 0; {
		var cluster string
		var boundaries int
		cluster, text, boundaries, state = uniseg.StepString(text, state)
		columns := boundaries >> uniseg.ShiftWidth
		if cluster != " " && wide+columns > width && wide > 0 {
			w.add(word, wide)
			word, wide = "", 0
		}
		word += cluster
		wide += columns
		if boundaries&uniseg.MaskLine != uniseg.LineDontBreak {
			w.add(word, wide)
			word, wide = "", 0
		}
	}
	w.add(word, wide)
	return append(w.lines, w.line)
}

// wrapping collects the words of a text into lines.
type wrapping struct {
	most  int
	lines []string
	line  string
	wide  int // of the line, in columns
}

// add puts a word, with the spaces after it, on the current line if it fits, else on the next.
func (w *wrapping) add(word string, wide int) {
	spaces := len(word) - len(strings.TrimRight(word, " "))
	if w.wide > 0 && w.wide+wide-spaces > w.most {
		w.lines = append(w.lines, strings.TrimRight(w.line, " "))
		w.line, w.wide = "", 0
	}
	w.line += word
	w.wide += wide
}
