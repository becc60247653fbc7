package httpapi

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/talkback/talkback/internal/surrogate"
)

// This file joins the surrogate pairs of a query, since gqlparser makes U+FFFD of each half.

// joinPairs writes the pairs in the strings of a query as the characters that they are. Spaces behind a string take the place
// of what it got shorter by, so that errors name the columns of what was sent. It is false when there is half of a pair.
// Comments and block strings, which have no such escapes, stay as they are, and so do strings that the parser refuses.
func joinPairs(query string) (joined string, ok bool) {
	if !strings.Contains(query, `\u`) {
		return query, true
	}
	var out strings.Builder
	for query != "" {
		length := strings.IndexAny(query, `"#`)
		switch {
		case length < 0:
			length = len(query)
		case query[length] == '#':
			length += lineLength(query[length:])
		case strings.HasPrefix(query[length:], `"""`):
			length += blockLength(query[length:])
		default:
			out.WriteString(query[:length])
			query = query[length:]
			if length, ok = joinString(query, &out); !ok {
				return "", false
			}
			query = query[length:]
			continue
		}
		out.WriteString(query[:length])
		query = query[length:]
	}
	return out.String(), true
}

// lineLength is the length of a text up to the end of its line.
func lineLength(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// blockLength is the length of the block string that a text begins with. As the parser has it, the last three of several
// quotes close it.
func blockLength(text string) int {
	const quotes = `"""`
	for length := len(quotes); length < len(text); length++ {
		switch rest := text[length:]; {
		case strings.HasPrefix(rest, `\`+quotes):
			length += len(quotes)
		case strings.HasPrefix(rest, quotes):
			return len(text) - len(strings.TrimLeft(rest, `"`))
		}
	}
	return len(text)
}

// joinString writes the string that a text begins with, and returns its length.
func joinString(text string, out *strings.Builder) (length int, ok bool) {
	var joined strings.Builder
	joined.WriteByte('"')
	length = 1
	missing := 0 // columns
	for length < len(text) {
		switch c := text[length]; c {
		case '\\':
			r, n, half := surrogate.Escape(text[length:])
			if half {
				return 0, false
			}
			if r != 0 {
				joined.WriteRune(r)
				missing += n - 1
			} else {
				joined.WriteString(text[length : length+n])
			}
			length += n
		case '"', '\n', '\r': // a string ends with its line, which the parser complains of
			joined.WriteByte(c)
			length++
			writeString(out, text[:length], joined.String(), missing)
			return length, true
		default:
			joined.WriteByte(c)
			length++
		}
	}
	out.WriteString(text) // has no end
	return length, true
}

// writeString writes a joined string and the spaces behind it, or the string as it was sent if nothing was joined or the
// parser refuses it: the error then lies inside, where no spaces can stand.
func writeString(out *strings.Builder, sent, joined string, missing int) {
	if missing > 0 {
		reader := lexer.New(&ast.Source{Input: sent})
		if _, err := reader.ReadToken(); err == nil {
			out.WriteString(joined)
			out.WriteString(strings.Repeat(" ", missing))
			return
		}
	}
	out.WriteString(sent)
}
