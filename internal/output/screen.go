// Package output writes for people: text that is safe to print, lines of readable width, colors,
// and progress. Files and pipes get plain text. It also writes files atomically.
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

// Readable is the maximum width of a readable line, in columns.
const Readable = 100

// leastColumns is the minimum width for laying out lines, even if the terminal is narrower.
const leastColumns = 20

// Screen determines how text is laid out on an output.
type Screen struct {
	Style
	// Columns is the width of a terminal. It is 0 for a file or a pipe: programs may read these, so
	// lines are not broken.
	Columns int
}

// ScreenOf returns the screen of an output. It is colored on a terminal, unless NO_COLOR is set
// (https://no-color.org).
func ScreenOf(out io.Writer) Screen {
	columns, known := width(out)
	if known {
		columns = max(columns, leastColumns)
	}
	return Screen{Style: Style(Is(out) && os.Getenv("NO_COLOR") == ""), Columns: columns}
}

// Fold breaks lines of a printable text, styled or not, that are too wide for the screen or for
// reading. It breaks only between words, so that ids can be copied. Continuation lines are indented
// by two more columns.
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

// Hang formats a name, styled or not, and a printable value, which begins at a column. Its
// continuation lines begin there too, but always in the left half of the screen.
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

// fill joins parts by a separator. It begins a new, indented line where the next part does not fit.
// columns is the number of columns already used in the first line.
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

// Style colors text if it is true, and returns it unchanged if it is false.
type Style bool

// Error marks the beginning of an error message: bold red.
func (s Style) Error(text string) string { return s.paint("1;31", text) }

// Stars marks a rating: yellow.
func (s Style) Stars(text string) string { return s.paint("33", text) }

// Head marks a heading: bold.
func (s Style) Head(text string) string { return s.paint("1", text) }

// Good marks a good result: green.
func (s Style) Good(text string) string { return s.paint("32", text) }

// Bad marks a bad result: red.
func (s Style) Bad(text string) string { return s.paint("31", text) }

// Notice marks something that should not be missed: yellow.
func (s Style) Notice(text string) string { return s.paint("33", text) }

// Faint marks the least important text.
func (s Style) Faint(text string) string { return s.paint("2", text) }

func (s Style) paint(code, text string) string {
	if !s || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// styling matches the escape sequences of a Style.
var styling = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Unstyled returns a text without the escape sequences of a Style.
func Unstyled(text string) string {
	if !strings.Contains(text, "\x1b") {
		return text
	}
	return styling.ReplaceAllString(text, "")
}

// English prints numbers as 12,345.
var English = message.NewPrinter(language.English)

// Count prints a number and what there is of it, such as 1 comment or 12,345 comments.
func Count[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return English.Sprintf("%d %s", n, many)
}

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

// width returns the width of an output. known is false unless it is a terminal that reports its
// width.
func width(out io.Writer) (columns int, known bool) {
	file, ok := out.(*os.File)
	if !ok {
		return 0, false
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	return columns, err == nil && columns > 0
}

// joiners change only the shape of adjacent characters.
const joiners = "\u200c\u200d"

// tab replaces a tab, whose width depends on its position.
const tab = "    "

// Printable makes untrusted text safe to print. It replaces control characters, and characters that
// reorder the text around them, by their code, such as \u001b, and tabs by spaces.
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

// IsPrintable reports whether a terminal only displays a character.
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
// opportunities of Unicode Standard Annex 14. It breaks a word that is wider than a line between
// any two characters. Spaces at the end of a line do not count. It returns at least one line.
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

// add puts a word, with the spaces after it, on the current line if it fits, otherwise on the next.
func (w *wrapping) add(word string, wide int) {
	spaces := len(word) - len(strings.TrimRight(word, " "))
	if w.wide > 0 && w.wide+wide-spaces > w.most {
		w.lines = append(w.lines, strings.TrimRight(w.line, " "))
		w.line, w.wide = "", 0
	}
	w.line += word
	w.wide += wide
}

// gap separates the columns of a table.
const gap = "  "

// Table is rows of printable cells, styled or not, under headings.
type Table struct {
	heads []string
	rows  [][]string
}

// NewTable returns a table without rows. A column may have an empty heading.
func NewTable(heads ...string) *Table { return &Table{heads: heads} }

// Row adds a row. If it has fewer cells than there are headings, its last cell may be wider than
// its column.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// On lays the table out on a screen: in columns or, if these do not fit, each row as its first cell
// and, below it, the others with their headings. It never cuts cells off. In a file, as with
// package text/tabwriter, cells are padded to their columns, even before an empty last one.
func (t *Table) On(s Screen) string {
	heads, widths := make([]string, len(t.heads)), make([]int, len(t.heads))
	for i, head := range t.heads {
		heads[i], widths[i] = s.Head(head), Width(head)
	}
	for _, row := range t.rows {
		for i, cell := range row {
			if spans := i == len(row)-1 && len(row) < len(t.heads); !spans {
				widths[i] = max(widths[i], Width(cell))
			}
		}
	}
	var out strings.Builder
	for _, row := range append([][]string{heads}, t.rows...) {
		line := ""
		for i, cell := range row {
			line += cell
			if i < len(row)-1 {
				line += strings.Repeat(" ", max(0, widths[i]-Width(cell))) + gap
			}
		}
		if s.Columns > 0 {
			line = strings.TrimRight(line, " ")
			if Width(line) > s.Columns {
				return t.stacked(s)
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

func (t *Table) stacked(s Screen) string {
	out := s.Head(t.heads[0]) + "\n"
	for _, row := range t.rows {
		var named []string
		for i, cell := range row[1:] {
			head := strings.ToLower(t.heads[i+1])
			spans := i+2 == len(row) && len(row) < len(t.heads)
			switch {
			case cell == "":
			case head == "" || spans:
				named = append(named, cell)
			default:
				named = append(named, head+": "+cell)
			}
		}
		out += row[0] + "\n" + s.Fold(gap+s.fill(named, ", ", gap, len(gap))) + "\n" // Fold breaks cells that are still too wide
	}
	return out
}

const (
	// mostBar and leastBar bound the length of a histogram's longest bar, in columns.
	mostBar, leastBar = 40, 4
	// eighths is the number of bar lengths within a column.
	eighths = 8
)

// Histogram is a list of counts with bars.
type Histogram struct {
	names  []string
	counts []int
}

// Add adds a count. The name is printable.
func (h *Histogram) Add(name string, count int) {
	h.names, h.counts = append(h.names, name), append(h.counts, count)
}

// On lays the histogram out on a screen. Each count has a line with its name, its bar, its value
// and its share of the sum.
func (h *Histogram) On(s Screen) string {
	sum, most, name, number := 0, 0, 0, 0
	for i, count := range h.counts {
		sum, most = sum+count, max(most, count)
		name, number = max(name, Width(h.names[i])), max(number, len(English.Sprint(count)))
	}
	const share = len("100.0 %")
	room := mostBar
	if s.Columns > 0 {
		room = max(leastBar, min(room, s.Columns-name-number-share-3*len(gap)))
	}
	var out strings.Builder
	for i, count := range h.counts {
		bar := bar(count, most, room)
		fmt.Fprintf(&out, "%s%s%s%s%s%*s%s%*s\n",
			h.names[i], strings.Repeat(" ", name-Width(h.names[i])), gap, s.Stars(bar), strings.Repeat(" ", room-Width(bar))+gap,
			number, English.Sprint(count), gap, share, Share(count, sum))
	}
	return out.String()
}

// bar draws a count relative to the largest one, which takes all of the room. A positive count
// always has a visible bar.
func bar(count, most, room int) string {
	if count == 0 {
		return ""
	}
	length := max(1, count*room*eighths/most)
	out := strings.Repeat("█", length/eighths)
	if rest := length % eighths; rest > 0 {
		out += string('█' + rune(eighths-rest)) // U+2588 is full, U+258F an eighth
	}
	return out
}

// Share formats a part of a whole in percent, such as "12.5 %"; of nothing, it is "0.0 %".
func Share(part, whole int) string {
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(max(whole, 1)))
}
