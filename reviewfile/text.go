package reviewfile

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

var lineBreak = regexp.MustCompile(`(?i)<br\s*/?>`)

// cleanText makes plain text of what an export holds: line breaks of HTML and entities become what they stand for, once,
// so that "&lt;br&gt;" becomes the text "<br>" and no line break. Other tags are text already. Lines end with LF; control
// characters and the space around the text go.
func cleanText(text string) string {
	if strings.Contains(text, "<") {
		text = lineBreak.ReplaceAllString(text, "\n")
	}
	text = html.UnescapeString(text)
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return strings.TrimSpace(strings.Map(dropControl, text))
}

// quoted is a name for people, in quotes if it holds what a terminal would obey instead of show.
func quoted(name string) string {
	if form := strconv.Quote(name); form != `"`+name+`"` {
		return form
	}
	return name
}

// cleanLine is cleanText for what stands on one line, such as a headline or a name.
func cleanLine(text string) string {
	return strings.Join(strings.FieldsFunc(cleanText(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
