package arch

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goload "golang.org/x/tools/go/packages"
)

// files is a graph of the files of a package: each file, with the files whose declarations, methods
// or fields it uses.
type files map[string]map[string]bool

// filesOf makes the graph of a package. Generated files are left out.
func filesOf(p *goload.Package) files {
	graph := files{}
	in := func(at token.Pos) string { return filepath.Base(p.Fset.Position(at).Filename) }
	for _, file := range p.Syntax {
		if ast.IsGenerated(file) {
			continue
		}
		from := in(file.Package)
		graph[from] = map[string]bool{}
		ast.Inspect(file, func(n ast.Node) bool {
			name, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if used := p.TypesInfo.Uses[name]; belongs(used, p.Types) && in(used.Pos()) != from {
				graph[from][in(used.Pos())] = true
			}
			return true
		})
	}
	return graph
}

// belongs reports whether a package declares an object: at its top level, as a field or as a
// method.
func belongs(object types.Object, p *types.Package) bool {
	if object == nil || object.Pkg() != p {
		return false
	}
	switch o := object.(type) {
	case *types.Var:
		return o.IsField() || o.Parent() == p.Scope()
	case *types.Func:
		return o.Signature().Recv() != nil || o.Parent() == p.Scope()
	}
	return object.Parent() == p.Scope()
}

// circles are the files that reach themselves through others, sorted.
func (g files) circles() []string {
	var out []string
	for _, file := range slices.Sorted(maps.Keys(g)) {
		if g.reached(file)[file] {
			out = append(out, file)
		}
	}
	return out
}

// reached are the files that a file uses, directly or not.
func (g files) reached(from string) map[string]bool {
	reached := map[string]bool{}
	for rest := []string{from}; len(rest) > 0; rest = rest[1:] {
		for next := range g[rest[0]] {
			if !reached[next] {
				reached[next] = true
				rest = append(rest, next)
			}
		}
	}
	return reached
}

// A file can be understood with those that it uses. In a circle, each needs all the others.
func TestFilesUseEachOtherInOneDirection(t *testing.T) {
	for _, p := range loadModule(t) {
		if circle := filesOf(p).circles(); len(circle) > 0 {
			t.Errorf("%s: these files use each other in a circle: %s: move what a lower file needs into it, or into a file of its own", p.PkgPath, strings.Join(circle, " "))
		}
	}
}

// The test finds circles of two files and of more, and nothing else.
func TestCircles(t *testing.T) {
	for _, row := range []struct {
		why   string
		graph files
		want  string
	}{
		{"a chain", files{"a": {"b": true, "c": true}, "b": {"c": true}, "c": nil}, ""},
		{"two files", files{"a": {"b": true}, "b": {"a": true}, "c": {"a": true}}, "a b"},
		{"three files", files{"a": {"b": true}, "b": {"c": true}, "c": {"a": true}}, "a b c"},
	} {
		if got := strings.Join(row.graph.circles(), " "); got != row.want {
			t.Errorf("%s: %q is a circle, want %q", row.why, got, row.want)
		}
	}
}

// A package that holds more than a fifth of the code has several ideas in it.
func TestNoPackageIsTooLarge(t *testing.T) {
	lines, all := map[string]int{}, 0
	eachSource(t, func(folder string, file *ast.File, fset *token.FileSet) {
		n := fset.File(file.FileStart).LineCount()
		lines[folder] += n
		all += n
	})
	for name, n := range lines {
		if 5*n > all {
			t.Errorf("%s has %d of %d lines, more than a fifth", name, n, all)
		}
	}
}
