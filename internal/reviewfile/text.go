package reviewfile

import (
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
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

// halfOf is the reason of a row in which something, such as its text, holds half of a character in some form.
func halfOf(holder, form string) string {
	return "the " + holder + " holds half of a character, " + form + " without its other half (the text may have been cut there): write the whole character, or remove the half"
}

// joinEntities writes surrogate pairs of entities, such as &#55357;&#56832;, as the characters that they are; HTML has U+FFFD for
// each half. It is false when there is half of one.
func joinEntities(text string) (joined string, ok bool) {
	var out strings.Builder
	for {
		start := strings.Index(text, "&#")
		if start < 0 {
			out.WriteString(text)
			return out.String(), true
		}
		out.WriteString(text[:start])
		text = text[start:]
		first, length := entity(text)
		second, more := entity(text[length:])
		switch r := utf16.DecodeRune(first, second); {
		case r != unicode.ReplacementChar:
			out.WriteRune(r)
			length += more
		case utf16.IsSurrogate(first):
			return "", false
		default:
			out.WriteString(text[:length])
		}
		text = text[length:]
	}
}

var numericEntity = regexp.MustCompile(`^&#(?:[xX]([0-9a-fA-F]+)|([0-9]+));?`)

// entity is the numeric entity that a text begins with, 0 for none, and its length: at least that of its first two characters.
func entity(text string) (unit rune, length int) {
	found := numericEntity.FindStringSubmatch(text)
	if found == nil {
		return 0, min(len("&#"), len(text))
	}
	digits, base := found[1], 16
	if digits == "" {
		digits, base = found[2], 10
	}
	value, err := strconv.ParseUint(digits, base, 16)
	if err != nil {
		value = 0 // larger than any half
	}
	return rune(value), len(found[0])
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
