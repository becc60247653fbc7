package httpapi

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"

	"github.com/talkback/talkback/internal/surrogate"
)

// This file joins surrogate pairs such as \uD83D\uDE00, since gqlparser replaces each half by
// U+FFFD.

// joinPairs replaces each pair in the strings of a query by the character that it stands for.
// Spaces behind the string make up for its lost length, so that errors name the columns of what was
// sent. It reports false if there is half of a pair. Comments and block strings have no such
// escapes and stay unchanged, and so do strings that the parser refuses.
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

// lineLength returns the length of a text up to the end of its first line.
func lineLength(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}

// blockLength returns the length of the block string at the beginning of a text. As in the parser,
// the last three of several quotes close it.
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

// joinString writes the string at the beginning of a text, and returns its length.
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
		case '"', '\n', '\r': // the end of the line ends a string too, which the parser refuses
			joined.WriteByte(c)
			length++
			writeString(out, text[:length], joined.String(), missing)
			return length, true
		default:
			joined.WriteByte(c)
			length++
		}
	}
	out.WriteString(text) // it is not closed
	return length, true
}

// writeString writes a joined string and the spaces behind it. If nothing was joined or the parser
// refuses the string, it writes the string as it was sent: the error is then inside, where spaces
// would change its column.
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
