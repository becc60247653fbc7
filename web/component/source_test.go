// Package component is the folder of the element <talkback-comments>, which is written in
// TypeScript and built into dist. It has tests only: they run the element in a browser, against a
// stand-in for the API.
package component

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// sources are the files of the element by name.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("src", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		found[path] = string(text)
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%d sources: %v", len(found), err)
	}
	return found
}

// Only a few ways turn a comment's text into markup, and a strict page forbids style attributes and
// eval.
func TestSourcesMakeNoMarkupOfTexts(t *testing.T) {
	forbidden := regexp.MustCompile(`\b(innerHTML|outerHTML|dangerouslySetInnerHTML|insertAdjacentHTML|setHTML\w*|parseFromString|createContextualFragment|srcdoc|eval|new Function|document\.write)\b|\sstyle=|javascript:`)
	for path, text := range sources(t) {
		if found := forbidden.FindString(text); found != "" {
			t.Errorf("%s has %q", path, found)
		}
	}
}

func TestScriptIsSmall(t *testing.T) {
	const most = 32_000 // bytes, of the 60 KB of script that a first view may have
	packed := must.Get(os.ReadFile("dist/talkback.js.gz"))(t)
	if len(packed) >= most {
		t.Errorf("talkback.js has %d bytes gzipped, want less than %d", len(packed), most)
	}
	reader := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
	text := must.Get(io.ReadAll(reader))(t)
	sheet := must.Get(os.ReadFile("dist/component.css"))(t)
	if len(sheet) == 0 || !bytes.Contains(text, sheet[:100]) {
		t.Error("the script and component.css have different style sheets")
	}
	if !bytes.Contains(text, []byte("Permission is hereby granted")) {
		t.Error("the script lacks the licence of what is bundled")
	}
}

// The guide's tables name exactly what a page may rely on in the sources. The types of the package
// have the same names.
func TestGuideNamesWhatThereIs(t *testing.T) {
	document := must.Get(os.ReadFile("../../docs/guide/component.md"))(t)
	types := must.Get(os.ReadFile("../package/index.d.ts"))(t)
	var code, sheet strings.Builder
	for path, text := range sources(t) {
		if strings.HasSuffix(path, ".css") {
			sheet.WriteString(text)
		} else {
			code.WriteString(text)
		}
	}
	for _, test := range []struct{ table, form, text string }{
		{"attribute", `this\.(?:get|has)Attribute\('([a-z-]+)'\)|\[lang\]'\)\?\.getAttribute\('(lang)'\)|:host\(\[([a-z-]+)[~=]`, code.String() + sheet.String()},
		{"name", `\n  set (\w+)\(|async (refresh\(\))`, code.String()},
		{"event", `#tell\('(talkback-[a-z]+)'`, code.String()},
		{"part", `(?:\bpart="|part\.add\(')([a-z-]+)`, code.String()},
		{"custom property", `var\((--talkback-[a-z0-9-]+)`, sheet.String()},
	} {
		for _, name := range namesIn(string(document), test.table) {
			if test.table != "custom property" && !regexp.MustCompile(`(?m)['\s|]`+regexp.QuoteMeta(strings.TrimSuffix(name, "()"))+`\b`).Match(types) {
				t.Errorf("web/package/index.d.ts lacks the %s %q", test.table, name)
			}
		}
		listed, there := namesIn(string(document), test.table), matches(test.form, test.text)
		if len(there) == 0 || !slices.Equal(listed, there) {
			t.Errorf("docs/guide/component.md, table %q:\n%q\nThe sources have\n%q", test.table, listed, there)
		}
	}
}

var rangeOfNames = regexp.MustCompile("`(--[a-z-]+)1` to `--[a-z-]+7`")

// namesIn returns the names in the first column of a table, sorted.
func namesIn(document, heading string) []string {
	_, table, _ := strings.Cut(document, "\n| "+heading+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for _, row := range strings.Split(table, "\n")[2:] {
		cell := strings.Split(row, "|")[1]
		if ends := rangeOfNames.FindStringSubmatch(cell); ends != nil {
			for _, digit := range "1234567" {
				names = append(names, ends[1]+string(digit))
			}
			continue
		}
		names = append(names, matches("`([^`]+)`", cell)...)
	}
	slices.Sort(names)
	return names
}

// matches returns the groups of a pattern's matches, sorted and each once.
func matches(form, text string) []string {
	var found []string
	for _, groups := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(groups[1:], ""))
	}
	slices.Sort(found)
	return slices.Compact(found)
}
