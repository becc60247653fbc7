package limits

import (
	"cmp"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// document checks a parsed document before it is validated. Some rules of validation take time that
// grows with the square of the fields that they compare, or with the expansion of fragments, so
// both are bounded first. Parts that are too long or too deep are refused, whether they are used or
// not.
type document struct {
	Limits
	fragments map[string]*ast.FragmentDefinition // the first of each name, which is executed
	tallies   map[*ast.FragmentDefinition]*tally
}

// tally is the size of a selection set as its fragments expand.
type tally struct {
	fields  int // and fragments, since a fragment of only fragments has a size, too
	aliases int
	depth   int // of nested fields
	roots   int // fields of the set itself, not below
	schemas int // fields __schema and __type
}

// checkDocument refuses a document that would cost too much to validate, or whose fragments form a
// cycle. Validation finds all other errors.
func (l Limits) checkDocument(doc *ast.QueryDocument) *gqlerror.Error {
	if err := cmp.Or(
		atMost(TooManyOperations, len(doc.Operations), l.Operations),
		atMost(TooManyFragments, len(doc.Fragments), l.Fragments),
	); err != nil {
		return err
	}
	d := document{
		Limits:    l,
		fragments: make(map[string]*ast.FragmentDefinition, len(doc.Fragments)),
		tallies:   make(map[*ast.FragmentDefinition]*tally, len(doc.Fragments)),
	}
	for _, fragment := range doc.Fragments {
		if d.fragments[fragment.Name] == nil {
			d.fragments[fragment.Name] = fragment
		}
	}
	if err := d.checkExpansion(doc); err != nil {
		return err
	}
	// Validation compares each pair of fields that answer under the same name in the same place, then
	// all their inner fields with each other. The expansion is bounded by now.
	o := overlaps{fragments: d.fragments, limit: l.Overlaps}
	for _, operation := range doc.Operations {
		o.merge([]ast.SelectionSet{operation.SelectionSet})
	}
	for _, fragment := range doc.Fragments {
		o.merge([]ast.SelectionSet{fragment.SelectionSet})
	}
	return atMost(TooManyOverlaps, o.pairs, l.Overlaps)
}

// checkExpansion refuses documents that expand too far. Validation also checks fragments that no
// operation uses, so each fragment is checked separately.
func (d *document) checkExpansion(doc *ast.QueryDocument) *gqlerror.Error {
	for _, fragment := range doc.Fragments {
		t, err := d.fragment(fragment)
		if err := cmp.Or(err, d.checkDefinitions(fragment.VariableDefinition), d.checkDirectives(fragment.Directives), d.check(t)); err != nil {
			return err
		}
	}
	var all tally
	for _, operation := range doc.Operations {
		t, err := d.tally(operation.SelectionSet)
		if err := cmp.Or(err, d.checkDefinitions(operation.VariableDefinitions), d.checkDirectives(operation.Directives), atMost(TooManyRootFields, t.roots, d.RootFields)); err != nil {
			return err
		}
		all.add(t)
	}
	return d.check(all)
}

func (d *document) check(t tally) *gqlerror.Error {
	return cmp.Or(
		atMost(TooDeep, t.depth, d.Depth),
		atMost(TooManyFields, t.fields, d.Fields),
		atMost(TooManyAliases, t.aliases, d.Aliases),
		atMost(TooManyIntrospections, t.schemas, d.Introspections),
	)
}

// tally counts a selection set. The nesting of the text is bounded, and so is the recursion here.
// Each fragment is counted once.
func (d *document) tally(set ast.SelectionSet) (tally, *gqlerror.Error) {
	var total tally
	if err := atMost(SelectionTooLong, len(set), d.SelectionFields); err != nil {
		return total, err
	}
	for _, selection := range set {
		var t tally
		var err *gqlerror.Error
		switch s := selection.(type) {
		case *ast.Field:
			t, err = d.tally(s.SelectionSet)
			err = cmp.Or(err, d.checkArguments(s.Arguments), d.checkDirectives(s.Directives))
			t.depth, t.roots = capped(t.depth+1), 1
			if s.Alias != s.Name {
				t.aliases = capped(t.aliases + 1)
			}
			if asksSchema(s) {
				t.schemas = capped(t.schemas + 1)
			}
		case *ast.InlineFragment:
			t, err = d.tally(s.SelectionSet)
			err = cmp.Or(err, d.checkDirectives(s.Directives))
		case *ast.FragmentSpread:
			if fragment := d.fragments[s.Name]; fragment != nil { // one that does not exist is empty
				t, err = d.fragment(fragment)
			}
			err = cmp.Or(err, d.checkDirectives(s.Directives))
		}
		if err != nil {
			return total, err
		}
		t.fields = capped(t.fields + 1)
		total.add(t)
	}
	return total, nil
}

// fragment counts a fragment, once. A fragment that is met again while it is being counted spreads
// itself.
func (d *document) fragment(fragment *ast.FragmentDefinition) (tally, *gqlerror.Error) {
	if t, met := d.tallies[fragment]; met {
		if t == nil {
			// The error that validation would return, without following the cycle.
			err := gqlerror.ErrorPosf(fragment.Position, "Cannot spread fragment %q within itself.", fragment.Name)
			errcode.Set(err, errcode.ValidationFailed)
			return tally{}, err
		}
		return *t, nil
	}
	d.tallies[fragment] = nil
	t, err := d.tally(fragment.SelectionSet)
	if err == nil {
		d.tallies[fragment] = &t
	}
	return t, err
}

func (t *tally) add(u tally) {
	t.fields = capped(t.fields + u.fields)
	t.aliases = capped(t.aliases + u.aliases)
	t.roots = capped(t.roots + u.roots)
	t.schemas = capped(t.schemas + u.schemas)
	t.depth = max(t.depth, u.depth)
}

// overlaps counts pairs of fields that answer under the same name in the same place.
type overlaps struct {
	fragments map[string]*ast.FragmentDefinition
	limit     int // counting ends above it
	pairs     int
}

// merge counts the pairs in selection sets that answer in the same place.
func (o *overlaps) merge(sets []ast.SelectionSet) {
	inner := selections{}
	for _, set := range sets {
		inner.expand(set, o.fragments)
	}
	for _, same := range inner {
		if o.pairs > o.limit {
			return
		}
		o.pairs = capped(o.pairs + len(same)*(len(same)-1)/2)
		o.merge(same)
	}
}

// selections are the selection sets of the fields in one place, by the name that these answer
// under.
type selections map[string][]ast.SelectionSet

func (s selections) expand(set ast.SelectionSet, fragments map[string]*ast.FragmentDefinition) {
	for _, selection := range set {
		switch asked := selection.(type) {
		case *ast.Field:
			s[asked.Alias] = append(s[asked.Alias], asked.SelectionSet)
		case *ast.InlineFragment:
			s.expand(asked.SelectionSet, fragments)
		case *ast.FragmentSpread:
			if fragment := fragments[asked.Name]; fragment != nil {
				s.expand(fragment.SelectionSet, fragments)
			}
		}
	}
}

// first returns the first error of a check of several parts.
func first[T any](parts []T, check func(T) *gqlerror.Error) *gqlerror.Error {
	for _, part := range parts {
		if err := check(part); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) checkDefinitions(definitions ast.VariableDefinitionList) *gqlerror.Error {
	if err := atMost(TooManyVariables, len(definitions), l.Variables); err != nil {
		return err
	}
	return first(definitions, func(definition *ast.VariableDefinition) *gqlerror.Error {
		lists := 0 // inside each other: coercion wraps a single value in each of them
		for t := definition.Type; t.Elem != nil; t = t.Elem {
			lists++
		}
		return cmp.Or(
			atMost(ValueTooDeep, lists, l.ValueDepth),
			l.checkDirectives(definition.Directives),
			l.checkValue(definition.DefaultValue, 0),
		)
	})
}

func (l Limits) checkDirectives(directives ast.DirectiveList) *gqlerror.Error {
	if err := atMost(TooManyDirectives, len(directives), l.Directives); err != nil {
		return err
	}
	return first(directives, func(directive *ast.Directive) *gqlerror.Error { return l.checkArguments(directive.Arguments) })
}

func (l Limits) checkArguments(arguments ast.ArgumentList) *gqlerror.Error {
	return first(arguments, func(argument *ast.Argument) *gqlerror.Error { return l.checkValue(argument.Value, 0) })
}

func (l Limits) checkValue(value *ast.Value, depth int) *gqlerror.Error {
	if value == nil {
		return nil
	}
	switch value.Kind {
	case ast.ListValue, ast.ObjectValue:
	case ast.IntValue, ast.FloatValue:
		// Validation accepts a number of more than 64 bits for a custom scalar, and reading the arguments
		// would then fail like an internal error.
		if _, err := value.Value(nil); err == nil {
			return nil
		}
		err := gqlerror.ErrorPosf(value.Position, "the number %s is out of range: give one of at most 64 bits", value.Raw)
		errcode.Set(err, errcode.ValidationFailed)
		return err
	default:
		return nil
	}
	if err := cmp.Or(
		atMost(ValueTooDeep, depth+1, l.ValueDepth),
		atMost(ListTooLong, len(value.Children), l.ListLength),
	); err != nil {
		return err
	}
	return first(value.Children, func(child *ast.ChildValue) *gqlerror.Error { return l.checkValue(child.Value, depth+1) })
}
