package importer

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/talkback/talkback/internal/output"
)

// cell encodes any bytes as one cell of tab-separated values that is safe for terminals and
// spreadsheets. Spreadsheets run a cell that begins with =, +, - or @ as a formula. They read a
// cell that begins with a quote on to the next quote, across tabs and line breaks. Such a character
// becomes its bytes, as in \0075 for an equals sign; a tab, a line break and a backslash become \t,
// \n, \r and \\. printf '%b' of a shell restores the bytes.
//
// Spreadsheets may also separate cells at commas and semicolons, so the text after these, and after
// a quote, counts as the beginning of a cell. See
// https://owasp.org/www-community/attacks/CSV_Injection.
func cell(text string) string {
	var out strings.Builder
	begins := true
	for at, size := 0, 0; at < len(text); at += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[at:])
		formula := begins && strings.ContainsRune(formulaStarts, r) && (at == 0 || !signedNumber.MatchString(text[at:]))
		switch char := text[at : at+size]; {
		case shortEscapes[r] != "":
			out.WriteString(shortEscapes[r])
		case formula, at == 0 && r == '"', !output.IsPrintable(r), r == utf8.RuneError && size == 1:
			for _, b := range []byte(char) {
				fmt.Fprintf(&out, `\0%03o`, b)
			}
		default:
			out.WriteString(char)
		}
		begins = strings.ContainsRune(`,;"`, r) || begins && r == ' '
	}
	return out.String()
}

var shortEscapes = map[rune]string{'\\': `\\`, '\t': `\t`, '\n': `\n`, '\r': `\r`}

// signedNumber matches a number, which begins like a formula and is not one.
var signedNumber = regexp.MustCompile(`^[+-][0-9]+(\.[0-9]+)?($|[,;"\t])`)

// formulaStarts begin a formula; in Japanese and Chinese versions, fullwidth characters do, too.
const formulaStarts = "=+-@＝＋－＠"
