package command

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// cell writes any bytes as one cell of a line of tab-separated values, harmless to terminals and to spreadsheets. These
// would run what begins with an equals sign, plus, minus or at sign as a formula, and take what follows a quote, tabs and
// line breaks and all, for one value. Such a character becomes its bytes, as in \0075 for an equals sign; a tab, a line
// break and a backslash become \t, \n, \r and \\. The format %b of a shell's printf turns all of it back into the bytes.
//
// Spreadsheets may part at commas and semicolons as well, so what follows these, or a quote, is looked at like the
// beginning. See https://owasp.org/www-community/attacks/CSV_Injection.
func cell(text string) string {
	var out strings.Builder
	begins := true
	for at, size := 0, 0; at < len(text); at += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[at:])
		switch char := text[at : at+size]; {
		case shortEscapes[r] != "":
			out.WriteString(shortEscapes[r])
		case begins && isFormula(text, at), at == 0 && r == '"', !isHarmless(r), r == utf8.RuneError && size == 1:
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

// signedNumber is a value that begins like a formula and is none.
var signedNumber = regexp.MustCompile(`^[+-][0-9]+(\.[0-9]+)?($|[,;"\t])`)

// isFormula tells whether a spreadsheet would take what begins there for a formula. Fullwidth forms are what those of
// Japanese and Chinese take.
func isFormula(text string, at int) bool {
	r, _ := utf8.DecodeRuneInString(text[at:])
	return strings.ContainsRune("=+-@＝＋－＠", r) && (at == 0 || !signedNumber.MatchString(text[at:]))
}
