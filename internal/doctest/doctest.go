// Package doctest reads the project's documents, so that tests can run what they show and check
// what they say.
package doctest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/talkback/talkback/internal/provisiontest"
)

// Document is a Markdown file.
type Document struct {
	// Path is its place below the root of the repository, with slashes.
	Path string
	// Text is the whole file.
	Text string
}

// Block is a fenced block of a document.
type Block struct {
	// Line is the line of the opening fence, from 1.
	Line int
	// Info is what stands behind the opening fence, such as "sh" or "json variables".
	Info string
	// Text is what the fences enclose, with its last line break.
	Text string
	// Start is where Text begins in the document, in bytes.
	Start int
}

// Root is the root of the repository.
func Root(t testing.TB) string {
	t.Helper()
	return provisiontest.Root(t)
}

// All returns every document, in the order in which a newcomer reads them: README.md, the guides,
// the pages for operators, and then the others by name.
func All(t testing.TB) []Document {
	t.Helper()
	root := Root(t)
	paths, err := fs.Glob(os.DirFS(root), "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(os.DirFS(root), "docs", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) == ".md" {
			paths = append(paths, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(paths, func(a, b string) int { return rank(a) - rank(b) })
	var all []Document
	for _, name := range paths {
		all = append(all, Read(t, name))
	}
	return all
}

func rank(name string) int {
	order := []string{"README.md", "docs/guide/product-page.md", "docs/guide/", "docs/operate/", ""}
	return slices.IndexFunc(order, func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// Read returns the document at a path below the root.
func Read(t testing.TB, name string) Document {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return Document{Path: name, Text: string(text)}
}

// Blocks returns the fenced blocks, in order.
func (d Document) Blocks() []Block {
	var all []Block
	var open *Block
	at := 0
	for i, line := range strings.SplitAfter(d.Text, "\n") {
		info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &Block{Line: i + 1, Info: info, Start: at + len(line)}
		case fence:
			open.Text = d.Text[open.Start:at]
			all, open = append(all, *open), nil
		}
		at += len(line)
	}
	return all
}

// Prose returns the lines outside of fenced blocks, by their numbers from 0; those of blocks are
// empty.
func (d Document) Prose() []string {
	lines := strings.Split(d.Text, "\n")
	inside := false
	for i, line := range lines {
		fence := strings.HasPrefix(line, "```")
		if inside || fence {
			lines[i] = ""
		}
		inside = inside != fence
	}
	return lines
}

var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// Code returns the code spans outside of fenced blocks, in order.
func (d Document) Code() []string {
	var all []string
	for _, line := range d.Prose() {
		for _, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			all = append(all, span[1])
		}
	}
	return all
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// Links returns the targets of links and images outside of code, in order.
func (d Document) Links() []string {
	var all []string
	for _, line := range d.Prose() {
		for _, found := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			all = append(all, found[1])
		}
	}
	return all
}

var heading = regexp.MustCompile(`^#{1,6} +(.*)$`)

// Anchors returns the names by which headings are linked to, as GitHub makes them.
func (d Document) Anchors() []string {
	var all []string
	for _, line := range d.Prose() {
		if found := heading.FindStringSubmatch(line); found != nil {
			all = append(all, anchor(found[1]))
		}
	}
	return all
}

// anchor is a heading in lower case, with hyphens for spaces, and without punctuation.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// Table returns the rows of each table that has a column of a name, as cells by the names of their
// columns.
func (d Document) Table(column string) []map[string]string {
	var rows []map[string]string
	var names []string
	for _, line := range d.Prose() {
		if !strings.HasPrefix(line, "|") {
			names = nil
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case names == nil:
			names = cells
		case slices.Contains(names, column) && !strings.HasPrefix(line, "|--"):
			row := map[string]string{}
			for i, name := range names[:min(len(names), len(cells))] {
				row[name] = cells[i]
			}
			rows = append(rows, row)
		}
	}
	return rows
}
