package command

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"
)

// joiners shape the letters and pictures beside them and do nothing else.
const joiners = "\u200c\u200d"

// tab stands for a tab, whose width depends on where it stands.
const tab = "    "

// printable makes a text harmless to print: what a terminal would obey instead of show, and what would reorder the text
// around it, is written as its code, such as \u001b. Comments are written by strangers.
func printable(text string) string {
	var out strings.Builder
	for _, r := range text {
		switch {
		case r == '\t':
			out.WriteString(tab)
		case isHarmless(r):
			out.WriteRune(r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// isHarmless tells whether a terminal shows a character, and does nothing else.
func isHarmless(r rune) bool { return unicode.IsGraphic(r) || strings.ContainsRune(joiners, r) }

// printableLines is printable for a text that has line breaks of its own.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return strings.Join(lines, "\n")
}

// wrapText breaks a printable text into lines of at most so many columns, where its writing allows it, as Unicode
// Standard Annex 14 says; a word that is too wide for any line is broken anywhere. The spaces at the end of a line do not
// count. There is always at least one line.
func wrapText(text string, width int) []string {
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

// wrapping is a text on its way into lines.
type wrapping struct {
	most  int
	lines []string
	line  string
	wide  int // of the line, in columns
}

// add puts a word with the spaces after it on the line, or on the next one.
func (w *wrapping) add(word string, wide int) {
	spaces := len(word) - len(strings.TrimRight(word, " "))
	if w.wide > 0 && w.wide+wide-spaces > w.most {
		w.lines = append(w.lines, strings.TrimRight(w.line, " "))
		w.line, w.wide = "", 0
	}
	w.line += word
	w.wide += wide
}
