package arch

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"sync"
	"testing"

	goload "golang.org/x/tools/go/packages"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// program is the hand-written and generated code of this module, with types.
type program struct {
	// uses are, for each function and each variable of a package, the objects that its declaration
	// names.
	uses map[types.Object][]types.Object
	// next are the objects that each object reaches directly, as far as they were worked out.
	next map[types.Object][]types.Object
	// named are the types declared in packages.
	named []*types.Named
	// foreign are the interfaces of other modules by which these call back.
	foreign []*types.Interface
}

// loadModule returns the packages of this module, type-checked from source once for all tests. For
// all others it reads the compiler's export data.
func loadModule(t *testing.T) []*goload.Package {
	t.Helper()
	loaded := must.Get(loadOnce())(t)
	for _, p := range loaded {
		for _, err := range p.Errors {
			t.Fatal(err)
		}
	}
	return loaded
}

var loadOnce = sync.OnceValues(func() ([]*goload.Package, error) {
	return goload.Load(&goload.Config{Dir: "../..", Mode: goload.LoadSyntax}, "./...")
})

// loadProgram returns the program made of some packages of this module.
func loadProgram(t *testing.T, paths ...string) program {
	t.Helper()
	p := program{uses: map[types.Object][]types.Object{}, next: map[types.Object][]types.Object{}}
	for _, pkg := range loadModule(t) {
		if !slices.Contains(paths, pkg.PkgPath) {
			continue
		}
		for _, file := range pkg.Syntax {
			for _, declaration := range file.Decls {
				p.declare(pkg.TypesInfo, declaration)
			}
		}
		p.named = append(p.named, typesOf(pkg.Types)...)
		for _, imported := range pkg.Types.Imports() {
			if !strings.HasPrefix(imported.Path(), module) {
				p.foreign = append(p.foreign, interfacesOf(imported)...)
			}
		}
	}
	return p
}

func typesOf(pkg *types.Package) []*types.Named {
	var out []*types.Named
	for _, name := range pkg.Scope().Names() {
		if declared, ok := pkg.Scope().Lookup(name).(*types.TypeName); ok && !declared.IsAlias() {
			out = append(out, declared.Type().(*types.Named))
		}
	}
	return out
}

// interfacesOf are the interfaces that a package declares, but for those without methods and
// generic ones.
func interfacesOf(pkg *types.Package) []*types.Interface {
	var out []*types.Interface
	for _, named := range typesOf(pkg) {
		if i, ok := named.Underlying().(*types.Interface); ok && i.NumMethods() > 0 && named.TypeParams() == nil {
			out = append(out, i)
		}
	}
	return out
}

// declare notes the objects that a function or a variable uses.
func (p program) declare(info *types.Info, declaration ast.Decl) {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		p.uses[info.Defs[d.Name]] = namedIn(info, d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for _, name := range values.Names {
				p.uses[info.Defs[name]] = namedIn(info, values)
			}
		}
	}
}

// namedIn returns the objects that a piece of code names. Generic ones are named as declared.
func namedIn(info *types.Info, node ast.Node) []types.Object {
	var out []types.Object
	ast.Inspect(node, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && info.Uses[name] != nil {
			object := info.Uses[name]
			if f, ok := object.(*types.Func); ok {
				object = f.Origin()
			}
			out = append(out, object)
		}
		return true
	})
	return out
}

// reach returns all code that a function can reach. A declaration reaches all that it names. A
// method of an interface reaches those of every type of ours that has it. A type reaches the
// methods by which other modules may call it. The result is too large rather than too small, and
// does not pass through the functions in without.
func (p program) reach(from types.Object, without ...types.Object) map[types.Object]bool {
	reached, left := map[types.Object]bool{}, []types.Object{from}
	for len(left) > 0 {
		object := left[len(left)-1]
		left = left[:len(left)-1]
		if reached[object] || slices.Contains(without, object) {
			continue
		}
		reached[object] = true
		next, known := p.next[object]
		if !known {
			switch o := object.(type) {
			case *types.Func:
				next = p.implementations(o)
			case *types.TypeName:
				next = p.callbacks(o.Type())
			}
			p.next[object] = append(next, p.uses[object]...)
		}
		left = append(left, p.next[object]...)
	}
	return reached
}

func (p program) implementations(method *types.Func) []types.Object {
	if method.Signature().Recv() == nil {
		return nil
	}
	wanted, ok := method.Signature().Recv().Type().Underlying().(*types.Interface)
	if !ok {
		return nil
	}
	var out []types.Object
	for _, named := range p.named {
		if implements(named, wanted) {
			out = append(out, methodOf(named, method))
		}
	}
	return out
}

// callbacks returns the methods of a type of ours that satisfy an interface of another module.
// Calls of the table are not among them: only the SDK's waiters get a client of ours.
func (p program) callbacks(t types.Type) []types.Object {
	named, ok := t.(*types.Named)
	if !ok || !slices.Contains(p.named, named) {
		return nil
	}
	var out []types.Object
	for _, wanted := range p.foreign {
		if implements(named, wanted) {
			for method := range wanted.Methods() {
				if callOf(method) == "" {
					out = append(out, methodOf(named, method))
				}
			}
		}
	}
	return out
}

// implements reports whether a type, or a pointer to it, satisfies an interface and is no interface
// itself.
func implements(named *types.Named, wanted *types.Interface) bool {
	return !types.IsInterface(named) && types.Implements(types.NewPointer(named), wanted)
}

// methodOf returns the method of a type with the name of another method.
func methodOf(named *types.Named, method *types.Func) types.Object {
	found, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), false, method.Pkg(), method.Name())
	return found
}

// function returns a function or, by "(*path.Type).Name", a method.
func (p program) function(t *testing.T, name string) *types.Func {
	t.Helper()
	for object := range p.uses {
		if f, ok := object.(*types.Func); ok && f.FullName() == name {
			return f
		}
	}
	t.Fatalf("there is no function %s", name)
	return nil
}
