package lookahead

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// selection is a field that an operation asks for, collected with the fields below it.
type selection struct {
	*ast.Field
	kind  Kind
	below []selection
	count int     // of the fields below, at any depth, without those below fixed ones
	fixed []Field // the fields below as each request reads them, nil if requests read them anew
}

// selector collects the fields of operations.
type selector struct {
	kinds map[*ast.FieldDefinition]Kind
	// implements has the name of each object type with the names of its interfaces, in the order in
	// which gqlgen's code has them: gqlgen then finds the fields collected that it executes.
	implements map[string][]string
	roots      map[ast.Operation]*ast.Definition
}

func newSelector(schema *ast.Schema) selector {
	s := selector{
		kinds:      kindsIn(schema),
		implements: map[string][]string{},
		roots:      map[ast.Operation]*ast.Definition{ast.Query: schema.Query, ast.Mutation: schema.Mutation},
	}
	for name, definition := range schema.Types {
		if definition.Kind == ast.Object {
			s.implements[name] = append([]string{name}, definition.Interfaces...)
		}
	}
	return s
}

// root returns the fields of an operation below a selection that has no field.
func (s selector) root(operation *graphql.OperationContext) selection {
	var root selection
	root.below, root.count = s.collect(operation, operation.Operation.SelectionSet, s.roots[operation.Operation.Operation].Name)
	return root
}

// collect returns the fields that a selection asks of a type, and how many there are at any depth.
func (s selector) collect(operation *graphql.OperationContext, set ast.SelectionSet, typeName string) (all []selection, count int) {
	if len(set) == 0 {
		return nil, 0
	}
	collected := graphql.CollectFields(operation, set, s.implements[typeName])
	all = make([]selection, len(collected))
	for i, field := range collected {
		all[i] = selection{Field: field.Field, kind: s.kinds[field.Definition]}
		all[i].below, all[i].count = s.collect(operation, field.Selections, field.Definition.Type.Name())
		count += 1 + all[i].count
	}
	return all, count
}

// conditional reports whether a part of an operation's document has a directive such as @skip, so
// that variables decide what is asked for.
func conditional(operation *graphql.OperationContext) bool {
	if hasDirectives(operation.Operation.SelectionSet) {
		return true
	}
	for _, fragment := range operation.Doc.Fragments {
		if hasDirectives(fragment.SelectionSet) {
			return true
		}
	}
	return false
}

func hasDirectives(set ast.SelectionSet) bool {
	for _, part := range set {
		var directives ast.DirectiveList
		var below ast.SelectionSet
		switch p := part.(type) {
		case *ast.Field:
			directives, below = p.Directives, p.SelectionSet
		case *ast.InlineFragment:
			directives, below = p.Directives, p.SelectionSet
		case *ast.FragmentSpread:
			directives = p.Directives
		}
		if len(directives) > 0 || hasDirectives(below) {
			return true
		}
	}
	return false
}
