package doctest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var hop = regexp.MustCompile(`^\d+\. ((?:` + "`[^`]+`" + `(?:, | and )?)+)`)

// mostTouched is how many files a change touches that CONTRIBUTING.md describes, at most.
const mostTouched = 15

// The walks in CONTRIBUTING.md lead through code that exists, and never back: each hop names a file
// and functions in it, each function is named in a file that was passed before, and no package is
// entered twice. The way of an answer ends where it began. Those of a change list the files that it
// touches, in any order.
func TestWalks(t *testing.T) {
	_, rest, _ := strings.Cut(Read(t, "CONTRIBUTING.md").Text, "\n## Walks through the code\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	walks := strings.Split(section, "\n### ")[1:]
	if len(walks) != 7 {
		t.Fatalf("CONTRIBUTING.md has %d walks, not 7", len(walks))
	}
	for _, text := range walks {
		title, _, _ := strings.Cut(text, "\n")
		if strings.HasPrefix(title, "A new ") {
			checkChange(t, title, text)
			continue
		}
		walk := walk{title: title}
		for _, line := range strings.Split(text, "\n") {
			if found := hop.FindStringSubmatch(line); found != nil {
				walk.hop(t, found[1], strings.Contains(line, "gqlgen calls"))
			}
		}
		if len(walk.packages) < 4 {
			t.Errorf("%s: only %d packages are passed", title, len(walk.packages))
		}
	}
}

// checkChange checks that the files and functions exist that a change touches.
func checkChange(t *testing.T, title, text string) {
	t.Helper()
	files := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		if found := hop.FindStringSubmatch(line); found != nil {
			names := codeSpan.FindAllStringSubmatch(found[1], -1)
			files[names[0][1]] = true
			namesIn(t, title, names)
		}
	}
	if len(files) < 5 || len(files) > mostTouched {
		t.Errorf("%s: %d files are touched, want 5 to %d", title, len(files), mostTouched)
	}
}

// namesIn returns the file that the first of some code spans names. The others are functions in it.
func namesIn(t *testing.T, title string, names [][]string) *ast.File {
	t.Helper()
	file := names[0][1]
	source, err := parser.ParseFile(token.NewFileSet(), filepath.Join(Root(t), filepath.FromSlash(file)), nil, 0)
	if err != nil || len(names) < 2 {
		t.Errorf("%s: the hop to %s names no function, or no file: %v", title, file, err)
		return nil
	}
	declared := functionsOf(source)
	for _, name := range names[1:] {
		if !slices.Contains(declared, name[1]) {
			t.Errorf("%s: %s has no function %s", title, file, name[1])
		}
	}
	return source
}

// walk is what was passed so far.
type walk struct {
	title    string
	packages []string
	files    []string
	named    []string // every identifier in them
}

// hop goes on to the file and the functions that code spans name; what gqlgen calls is named by no
// file of ours.
func (w *walk) hop(t *testing.T, spans string, unnamed bool) {
	t.Helper()
	names := codeSpan.FindAllStringSubmatch(spans, -1)
	file := names[0][1]
	source := namesIn(t, w.title, names)
	if source == nil {
		return
	}
	if slices.Contains(w.files, file) {
		t.Errorf("%s comes to %s twice", w.title, file)
	}
	w.enter(t, path.Dir(file))
	first := names[1][1]
	if called := first[strings.LastIndex(first, ".")+1:]; !unnamed && len(w.files) > 0 && !slices.Contains(w.named, called) {
		t.Errorf("%s: no file of an earlier hop names %s, with which the hop to %s begins: name another function first, or add the file that calls it", w.title, called, file)
	}
	w.files = append(w.files, file)
	ast.Inspect(source, func(n ast.Node) bool {
		if name, is := n.(*ast.Ident); is {
			w.named = append(w.named, name.Name)
		}
		return true
	})
}

// enter notes a package, and refuses one that was left before, but for the first one.
func (w *walk) enter(t *testing.T, folder string) {
	t.Helper()
	at := slices.Index(w.packages, folder)
	if at > 0 && at < len(w.packages)-1 {
		t.Errorf("%s comes back to %s", w.title, folder)
	}
	if at != len(w.packages)-1 || at < 0 {
		w.packages = append(w.packages, folder)
	}
}

// functionsOf are the names of a file's functions and types; those of methods are "Type.Method".
func functionsOf(file *ast.File) []string {
	var names []string
	for _, declaration := range file.Decls {
		if types, is := declaration.(*ast.GenDecl); is && types.Tok == token.TYPE {
			for _, spec := range types.Specs {
				names = append(names, spec.(*ast.TypeSpec).Name.Name)
			}
		}
		function, is := declaration.(*ast.FuncDecl)
		if !is {
			continue
		}
		name := function.Name.Name
		if function.Recv != nil {
			receiver := function.Recv.List[0].Type
			if star, is := receiver.(*ast.StarExpr); is {
				receiver = star.X
			}
			if generic, is := receiver.(*ast.IndexExpr); is {
				receiver = generic.X
			}
			if of, is := receiver.(*ast.Ident); is {
				name = of.Name + "." + name
			}
		}
		names = append(names, name)
	}
	return names
}
