package output

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

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
