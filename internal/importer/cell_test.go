package importer

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestCell(t *testing.T) {
	for text, want := range map[string]string{
		"good, and cheap": "good, and cheap",
		"a\tb\nc\\":       `a\tb\nc\\`,
		"=1+1":            `\0075` + "1+1",
		"a,=1":            `a,\0075` + "1",
		"a; +x":           `a; \0053x`,
		"-5":              `\0055` + "5",
		"a,-5":            "a,-5",
		`"quoted`:         `\0042quoted`,
		"\x1b[2J":         `\0033[2J`,
		"caf\xe9":         `caf\0351`,
		"\u202e":          `\0342\0200\0256`,
		"＝1":              `\0357\0274\0235` + "1",
	} {
		if got := cell(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

var escape = regexp.MustCompile(`\\(0[0-3][0-7]{2}|[tnr\\])`)

// unescape returns what printf '%b' prints for a cell.
func unescape(cell string) string {
	return escape.ReplaceAllStringFunc(cell, func(e string) string {
		if b, err := strconv.ParseUint(e[1:], 8, 8); err == nil {
			return string([]byte{byte(b)})
		}
		return map[string]string{`\t`: "\t", `\n`: "\n", `\r`: "\r", `\\`: `\`}[e]
	})
}

// Any bytes become one printable cell that no spreadsheet executes, and read back unchanged.
func TestCellKeepsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(raw []byte) string { return string(raw) }),
			rapid.StringOf(rapid.SampledFrom([]rune("=+-@＝,;\" \t\n\r\\09a\x1b\u202e"))),
		).Draw(t, "text")
		got := cell(text)
		if back := unescape(got); back != text {
			t.Fatalf("%q becomes %q and comes back as %q", text, got, back)
		}
		if i := strings.IndexFunc(got, func(r rune) bool { return !unicode.IsGraphic(r) }); i >= 0 {
			t.Fatalf("%q holds %q", got, got[i:])
		}
		if got != "" && strings.ContainsAny(got[:1], "=+-@\"") {
			t.Fatalf("%q begins like a formula", got)
		}
	})
}
