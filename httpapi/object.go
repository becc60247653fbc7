package httpapi

// This file takes a JSON object apart. Decoding into a struct or a map would accept names in any
// case, and use the last of several members with the same name. jx checks the whole text first, so
// only quotes and brackets matter here. It accepts what encoding/json accepts, in a quarter of the
// time.

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/go-faster/jx"
)

// members are the members that a request may have, each as JSON, nil for those that it has not.
type members struct{ query, operationName, variables, extensions json.RawMessage }

const jsonSpace = " \t\r\n"

// readObject reads one JSON object, and nothing after it.
func readObject(text []byte) (given members, refused *refusal) {
	rest := trimSpace(text)
	switch {
	case bytes.HasPrefix(rest, []byte("[")):
		return given, batch
	case !jx.Valid(rest):
		return given, badJSON
	case rest[0] != '{':
		return given, badShape
	}
	for rest = trimSpace(rest[1:]); rest[0] != '}'; rest = trimMark(rest, ',') {
		var quoted, value []byte
		quoted, rest = cutValue(rest)
		value, rest = cutValue(trimMark(rest, ':'))
		if refused := given.add(unquoted(quoted), value); refused != nil {
			return given, refused
		}
	}
	return given, nil
}

// trimSpace cuts off the white space that a text begins with. [bytes.TrimLeft] would make a set of the
// bytes to cut off, each time.
func trimSpace(text []byte) []byte {
	for i, c := range text {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return text[i:]
		}
	}
	return nil
}

// trimMark cuts off white space, then a mark if it comes next, with the white space behind it.
func trimMark(text []byte, mark byte) []byte {
	if text = trimSpace(text); text[0] == mark {
		return trimSpace(text[1:])
	}
	return text
}

// add adds a member unless it is unknown, and refuses one that is given twice.
func (m *members) add(name []byte, value json.RawMessage) *refusal {
	member := m.named(name)
	switch {
	case member == nil:
	case *member != nil:
		return givenTwice.with(string(name))
	default:
		*member = value
	}
	return nil
}

// named returns where the member of a name belongs, nil for an unknown one.
func (m *members) named(name []byte) *json.RawMessage {
	switch string(name) {
	case "query":
		return &m.query
	case "operationName":
		return &m.operationName
	case "variables":
		return &m.variables
	case "extensions":
		return &m.extensions
	}
	return nil
}

// unquoted returns the name of a member as bytes, without a copy if nothing is escaped.
func unquoted(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(nameOf(quoted))
}

// nameOf returns the name of a member.
func nameOf(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	if name, ok := unescaped(quoted[1 : len(quoted)-1]); ok {
		return name
	}
	var name string
	if err := json.Unmarshal(quoted, &name); err != nil {
		panic(err) // it is a string of valid JSON
	}
	return name
}

// simpleEscapes are the bytes that a backslash and a letter or mark stand for.
var simpleEscapes = [256]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', '"': '"', '/': '/', '\\': '\\'}

// unescaped returns what stands between the quotes of a string of valid JSON. It reports false if a
// character is escaped by its number.
func unescaped(text []byte) (plain string, ok bool) {
	var out strings.Builder
	out.Grow(len(text))
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			out.Write(text)
			return out.String(), true
		}
		c := simpleEscapes[text[i+1]]
		if c == 0 {
			return "", false
		}
		out.Write(text[:i])
		out.WriteByte(c)
		text = text[i+2:]
	}
}

// cutValue cuts off the value that a part of valid JSON begins with.
func cutValue(text []byte) (value, rest []byte) {
	depth, end := 0, 0
	for ; end < len(text); end++ {
		switch text[end] {
		case '"':
			end += stringLength(text[end:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth == 0 && endsValue(text[end:]) {
			end++
			break
		}
	}
	return text[:end], text[end:]
}

// endsValue reports whether the first of some bytes, outside of lists and objects, is the last of a
// value: a separator or a bracket follows.
func endsValue(text []byte) bool {
	return len(text) < 2 || bytes.IndexByte([]byte(jsonSpace+",:}]"), text[1]) >= 0
}

// stringLength returns the length of the string that valid JSON begins with, quotes included.
func stringLength(text []byte) int {
	for end := 1; ; end++ {
		end += bytes.IndexByte(text[end:], '"')
		before := bytes.TrimRight(text[1:end], `\`)
		if backslashes := end - 1 - len(before); backslashes%2 == 0 { // else the last escapes the quote
			return end + 1
		}
	}
}
