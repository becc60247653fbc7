package output

import (
	"io"
	"strings"

	"github.com/rivo/uniseg"
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
