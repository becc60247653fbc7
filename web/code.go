package web

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// span is a stretch of code, with what it is: "key", "string", "number", "word" or nothing.
type span struct{ Class, Text string }

// jsonForm finds what is coloured in indented JSON. A string before a colon is a key.
var jsonForm = regexp.MustCompile(`(?P<key>"(?:[^"\\]|\\.)*":)|(?P<string>"(?:[^"\\]|\\.)*")|(?P<number>-?\d[\d.eE+-]*)|(?P<word>true|false|null)`)

// printed returns JSON with an indentation, in spans. Text that is no JSON is one span.
func printed(text []byte) []span {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return []span{{"", string(text)}}
	}
	code := out.String()
	var spans []span
	end := 0
	for _, found := range jsonForm.FindAllStringSubmatchIndex(code, -1) {
		spans = append(spans, span{"", code[end:found[0]]}, span{classOf(found), code[found[0]:found[1]]})
		end = found[1]
	}
	return append(spans, span{"", code[end:]})
}

// classOf returns the name of the group that matched.
func classOf(found []int) string {
	for i, name := range jsonForm.SubexpNames() {
		if name != "" && found[2*i] >= 0 {
			return name
		}
	}
	return ""
}
