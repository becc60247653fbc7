// Command talkback-languages detects the languages of texts, for `talkback import
// --detect-language`. It reads a JSON string from each line of its standard input, and answers with
// a line: a language tag, or "und" if the language is uncertain. It is a separate program and
// module because its library's models take 110 MB.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pemistahl/lingua-go"
	"golang.org/x/text/language"
)

// longest bounds a line, in bytes: a text has 256 KB at most, and JSON may need six bytes for each.
const longest = 2 << 20

// enough is how many bytes of a text are examined. More text hardly improves the result.
const enough = 1000

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "talkback-languages:", err)
		os.Exit(1)
	}
}

// run answers each line. Its argument has the languages to choose from: tags and commas, or "all".
func run(arguments []string, in io.Reader, out io.Writer) error {
	if len(arguments) != 1 {
		return fmt.Errorf("give the languages to choose from, such as de,en,fr, or all")
	}
	among, err := languages(arguments[0])
	if err != nil {
		return err
	}
	detector := lingua.NewLanguageDetectorBuilder().FromLanguages(among...).WithMinimumRelativeDistance(surety).Build()
	lines, answers := bufio.NewScanner(in), bufio.NewWriter(out)
	lines.Buffer(nil, longest)
	for lines.Scan() {
		var text string
		if err := json.Unmarshal(lines.Bytes(), &text); err != nil {
			return fmt.Errorf("a line is not a JSON string: %w", err)
		}
		if len(text) > enough {
			text = strings.ToValidUTF8(text[:enough], "") // drops a character that was cut
		}
		answer := "und"
		if found, sure := detector.DetectLanguageOf(text); sure {
			answer = strings.ToLower(found.IsoCode639_1().String())
		}
		fmt.Fprintln(answers, answer)
		if err := answers.Flush(); err != nil {
			return err
		}
	}
	return lines.Err()
}

// surety is how much likelier the best language must be than the second, from 0 to 0.99. Measured
// on reviews: docs/measurements.md, "Languages of reviews".
const surety = 0.2

func languages(list string) (among []lingua.Language, err error) {
	if list == "all" {
		return lingua.AllLanguages(), nil
	}
	known := map[string]lingua.Language{}
	for _, l := range lingua.AllLanguages() {
		known[strings.ToLower(l.IsoCode639_1().String())] = l
	}
	for _, tag := range strings.Split(list, ",") {
		parsed, err := language.Parse(strings.TrimSpace(tag))
		if err != nil {
			return nil, fmt.Errorf("%q is not a language tag: give one such as de", tag)
		}
		base, _ := parsed.Base()
		code := base.String()
		if code == "no" {
			code = "nb"
		}
		l, ok := known[code]
		if !ok {
			return nil, fmt.Errorf("the language %q cannot be told: leave it out", tag)
		}
		if !slices.Contains(among, l) { // en-US and en-GB are one, and the library needs two
			among = append(among, l)
		}
	}
	if len(among) < 2 {
		return nil, fmt.Errorf("give at least two languages to choose from: for one, talkback import has --language")
	}
	return among, nil
}
