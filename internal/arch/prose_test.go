package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Each reader has to decode a word that only this project understands. Patterns match lower-case
// text, and identifiers split into words.
var coinages = []struct {
	pattern string
	why     string
	say     string
}{
	{`\bacquaint\w*`, "a coinage", "warm: counts are known"},
	{`\bbeats?\b`, "half of a word", "heartbeat"},
	{`\bcensus(es)?\b`, "a coinage", "estimate"},
	{`\bdoors?\b`, "a metaphor", "entry point"},
	{`\bfurther rounds?\b`, "two words for one thing", "wave"},
	{`\bhangs? (up)?on\b`, "a metaphor", "depends on"},
	{`\b(he|him|his|himself)\b`, "programs are it, people are they", "it, its, they, the caller"},
	{`\binsist(s|ing)?\b`, "a coinage", "retry"},
	{`\bkept for a moment\b`, "says what, but not which", "page cache"},
	{`\blest\b`, "archaic", "so that ... not"},
	{`\bone's( own)?\b`, "nobody speaks so", "your, its"},
	{`\bset aside\b`, "a coinage", "dead-lettered"},
	{`\bshel(f|ves)\b`, "a metaphor", "product list"},
	{`\bthat there is\b`, "a riddle", "that exists; a verb"},
	{`\bwhoever\b`, "names no one who acts", "a client that, the caller, the server"},
	{`\bworked off\b`, "a coinage", "processed"},
}

var coinagePatterns = func() (compiled []*regexp.Regexp) {
	for _, c := range coinages {
		compiled = append(compiled, regexp.MustCompile(c.pattern))
	}
	return compiled
}()

// coined lists words that a text should replace.
func coined(text string) (found []string) {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	for i, pattern := range coinagePatterns {
		if word := pattern.FindString(text); word != "" {
			found = append(found, "\""+word+"\": "+coinages[i].why+"; say: "+coinages[i].say)
		}
	}
	return found
}

func TestDocumentsUseTheFieldsWords(t *testing.T) {
	for path, text := range documents(t) {
		for _, word := range coined(inline.ReplaceAllString(fenced.ReplaceAllString(text, ""), "CODE")) {
			t.Errorf("%s has %s", path, word)
		}
	}
}

func TestCodeUsesTheFieldsWords(t *testing.T) {
	for _, p := range packages(t) {
		for _, path := range must.Get(filepath.Glob(filepath.Join(p.Dir, "*.go")))(t) {
			for text, position := range textsOf(t, path) {
				for _, word := range coined(text) {
					t.Errorf("%s has %s", position, word)
				}
			}
		}
	}
}

func TestSchemaUsesTheFieldsWords(t *testing.T) {
	for _, word := range coined(read(t, "../../schema.graphqls")) {
		t.Errorf("schema.graphqls has %s", word)
	}
}

// textsOf returns the comments, names and strings of a file of hand-written code, each with one of
// its positions.
func textsOf(t *testing.T, path string) map[string]token.Position {
	fset := token.NewFileSet()
	file := must.Get(parser.ParseFile(fset, path, nil, parser.ParseComments))(t)
	texts := map[string]token.Position{}
	if ast.IsGenerated(file) || filepath.Base(path) == "prose_test.go" {
		return texts
	}
	for _, group := range file.Comments {
		texts[group.Text()] = fset.Position(group.Pos())
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			texts[wordsOf(n.Name)] = fset.Position(n.Pos())
		case *ast.BasicLit:
			if n.Kind == token.STRING && n.Value != `"he"` { // Hebrew
				texts[n.Value] = fset.Position(n.Pos())
			}
		}
		return true
	})
	return texts
}

var wordStart = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// wordsOf splits a name: workedOff is "worked Off".
func wordsOf(name string) string {
	return wordStart.ReplaceAllString(strings.ReplaceAll(name, "_", " "), "$1 $2")
}

const (
	shortestDesign, longestDesign = 60, 150 // lines of a file in docs/design: one decision area
	longestLine                   = 100     // characters outside of tables, code and links
	longestSentence               = 30      // words; aim at 25
)

// drawing is a picture drawn as text.
var drawing = regexp.MustCompile("(?ms)^```mermaid$.*?^```$")

func TestDesignFilesHaveOneLength(t *testing.T) {
	seen := 0
	for path, text := range documents(t) {
		lines := strings.Count(drawing.ReplaceAllString(text, ""), "\n")
		if !strings.HasPrefix(path, "docs/design/") {
			continue
		}
		seen++
		if lines < shortestDesign || lines > longestDesign {
			t.Errorf("%s has %d lines, want %d to %d: one decision area a file", path, lines, shortestDesign, longestDesign)
		}
		if !strings.Contains(text, "**Decision:**") && path != "docs/design/overview.md" {
			t.Errorf(`%s has no "**Decision:**": say which option was chosen, and why`, path)
		}
	}
	if seen == 0 {
		t.Error("no files in docs/design: nothing was checked")
	}
}

func TestLinesOfDocumentsWrap(t *testing.T) {
	for path, text := range documents(t) {
		code := false
		for i, line := range strings.Split(text, "\n") {
			fence := strings.HasPrefix(strings.TrimSpace(line), "```")
			if fence {
				code = !code
			}
			free := code || fence || strings.HasPrefix(line, "|") || strings.Contains(line, "](")
			if !free && utf8.RuneCountInString(line) > longestLine {
				t.Errorf("%s:%d has %d characters, want at most %d", path, i+1, utf8.RuneCountInString(line), longestLine)
			}
		}
	}
}

// Lines of comments are as long as those of documents. Addresses stay whole, and so does what the
// comment of an example says about its output.
func TestLinesOfCommentsWrap(t *testing.T) {
	eachFile(t, func(path string, read func() string) {
		if filepath.Ext(path) != ".go" || filepath.Base(path) == "example_test.go" || strings.HasPrefix(read(), "// Code generated ") {
			return
		}
		for i, line := range strings.Split(read(), "\n") {
			isComment := strings.HasPrefix(strings.TrimSpace(line), "// ")
			if length := utf8.RuneCountInString(line); isComment && length > longestLine && !strings.Contains(line, "://") {
				t.Errorf("%s:%d has %d characters, want at most %d", path, i+1, length, longestLine)
			}
		}
	})
}

func TestSentencesAreShort(t *testing.T) {
	for path, text := range documents(t) {
		for _, paragraph := range paragraph.Split(proseOf(text), -1) {
			for _, sentence := range sentenceEnd.Split(paragraph, -1) {
				if words := strings.Fields(sentence); len(words) > longestSentence {
					t.Errorf("%s has a sentence of %d words, want at most %d: %s", path, len(words), longestSentence, strings.Join(words, " "))
				}
			}
		}
	}
}

// Files and tests exist where a document says: by a path from the root or from the document, or by
// a name alone. A text that begins with a slash is an address of the server.
func TestDocumentsNameWhatExists(t *testing.T) {
	files, tests := map[string]bool{}, map[string]bool{}
	eachFile(t, func(path string, read func() string) {
		files[path], files[filepath.Base(path)] = true, true
		if strings.HasSuffix(path, "_test.go") {
			for _, name := range testName.FindAllStringSubmatch(read(), -1) {
				tests[name[1]] = true
			}
		}
	})
	for path, text := range documents(t) {
		for _, name := range namedFile.FindAllStringSubmatch(text, -1) {
			if !files[name[1]] && !files[filepath.Join(filepath.Dir(path), name[1])] {
				t.Errorf("%s names the file %s, which does not exist", path, name[1])
			}
		}
		for _, name := range namedTest.FindAllStringSubmatch(text, -1) {
			if !tests[name[1]] {
				t.Errorf("%s names the test %s, which does not exist", path, name[1])
			}
		}
	}
}

var (
	namedFile = regexp.MustCompile("`([a-zA-Z0-9_.-][a-zA-Z0-9_./-]*\\.(?:go|js|golden|graphqls))`")
	namedTest = regexp.MustCompile("`((?:Test|Benchmark|Fuzz)[A-Z]\\w+)`")
	testName  = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz)\w+)\(`)
)

var (
	paragraph   = regexp.MustCompile(`\n\s*\n|(?:^|\n)\s*(?:[-*]|\d+\.) `)
	sentenceEnd = regexp.MustCompile(`[.?!]\*{0,2}["”)]?\s+`)

	fenced = regexp.MustCompile("(?ms)^\\s*```.*?^\\s*```[ \t]*$")
	inline = regexp.MustCompile("`[^`]*`")
	link   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	aside  = regexp.MustCompile(`(?m)^(\||#|<).*$`)
)

// proseOf returns a document without code, tables, headings, HTML and the targets of its links.
func proseOf(text string) string {
	text = fenced.ReplaceAllString(text, "")
	text = inline.ReplaceAllString(text, "CODE")
	text = link.ReplaceAllString(text, "$1")
	return aside.ReplaceAllString(text, "")
}

var notOurs = regexp.MustCompile(`^(\..*|node_modules|bin|data)$`)

// documents are the texts of the project's own Markdown files, by their paths.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	eachFile(t, func(path string, read func() string) {
		if filepath.Ext(path) == ".md" {
			texts[path] = read()
		}
	})
	return texts
}

// eachFile goes through the files of the project, by their paths from its root.
func eachFile(t *testing.T, look func(path string, read func() string)) {
	t.Helper()
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && notOurs.MatchString(entry.Name()):
			return fs.SkipDir
		case !entry.IsDir():
			look(path, func() string { return read(t, filepath.Join("../..", path)) })
		}
		return nil
	})
	must.Do(t, err)
}
