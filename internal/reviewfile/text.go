package reviewfile

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// cleanText returns the plain text of a value, which may be HTML. Lines end with LF. Control
// characters and space around the text are removed.
func cleanText(text string) string {
	text = plainText(text)
	if strings.Contains(text, "\r") {
		text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	}
	return strings.TrimSpace(strings.Map(dropControl, text))
}

// halfOf returns the reason for a row in which a holder, such as the text, has half of a surrogate
// pair in some form.
func halfOf(holder, form string) string {
	return "the " + holder + " holds half of a character, " + form + " without its other half (the text may have been cut there): write the whole character, or remove the half"
}

// joinEntities replaces surrogate pairs of entities, such as &#55357;&#56832;, with their
// characters. Package html would make U+FFFD of each half. ok is false if one half is missing.
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

// entity returns the value of the numeric entity at the beginning of a text, 0 if there is none,
// and its length, which is at least that of its first two characters.
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
		value = 0 // too large for a surrogate
	}
	return rune(value), len(found[0])
}

// quoted returns a name for people, in quotes if it holds characters that a terminal would
// interpret.
func quoted(name string) string {
	if form := strconv.Quote(name); form != `"`+name+`"` {
		return form
	}
	return name
}

// cleanLine is cleanText for a value on one line, such as a headline or a name.
func cleanLine(text string) string {
	return strings.Join(strings.FieldsFunc(cleanText(text), func(r rune) bool { return r == '\n' || r == '\t' }), " ")
}

func dropControl(r rune) rune {
	if unicode.IsControl(r) && r != '\n' && r != '\t' {
		return -1
	}
	return r
}
