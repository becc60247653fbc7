package limits

import (
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// document looks at a parsed document before it is validated. Some rules of validation take a time
// that grows with the square of what they compare, or with what fragments expand to; so that has to
// be known first.
type document struct {
	limits    Limits
	fragments map[string]*ast.FragmentDefinition // the first of each name, as validation and execution take it
	tallies   map[*ast.FragmentDefinition]*tally
}

// tally is what a selection set comes to as its fragments expand.
type tally struct {
	fields  int // and fragments: one that holds nothing but others has a size too
	aliases int
	depth   int // fields inside each other
	roots   int // fields of the set itself
	schemas int // questions about the schema
}

// checkDocument refuses a document that would cost too much to validate or that has no end. What is
// wrong with it otherwise is for validation to say.
func (l Limits) checkDocument(doc *ast.QueryDocument) *gqlerror.Error {
	if err := first(
		atMost(TooManyOperations, len(doc.Operations), l.Operations),
		atMost(TooManyFragments, len(doc.Fragments), l.Fragments),
		l.checkShape(doc),
	); err != nil {
		return err
	}
	d := document{
		limits:    l,
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
	return l.checkOverlaps(doc, d.fragments)
}

// checkExpansion refuses what fragments expand to. A fragment that no operation uses is validated
// too, so each counts by itself.
func (d *document) checkExpansion(doc *ast.QueryDocument) *gqlerror.Error {
	for _, fragment := range doc.Fragments {
		t, err := d.fragment(fragment)
		if err != nil {
			return err
		}
		if err := d.check(*t); err != nil {
			return err
		}
	}
	var all tally
	for _, operation := range doc.Operations {
		t, err := d.tally(operation.SelectionSet)
		if err != nil {
			return err
		}
		if err := atMost(TooManyRootFields, t.roots, d.limits.RootFields); err != nil {
			return err
		}
		all.add(t)
	}
	return d.check(all)
}

func (d *document) check(t tally) *gqlerror.Error {
	return first(
		atMost(TooDeep, t.depth, d.limits.Depth),
		atMost(TooManyFields, t.fields, d.limits.Fields),
		atMost(TooManyAliases, t.aliases, d.limits.Aliases),
		atMost(TooManyIntrospections, t.schemas, d.limits.Introspections),
	)
}

// tally counts a selection set. The parser's nesting is bounded, and so is the recursion here; a
// fragment is counted once.
func (d *document) tally(set ast.SelectionSet) (tally, *gqlerror.Error) {
	var total tally
	for _, selection := range set {
		t, err := d.selection(selection)
		if err != nil {
			return total, err
		}
		total.add(t)
	}
	return total, nil
}

func (d *document) selection(selection ast.Selection) (tally, *gqlerror.Error) {
	switch s := selection.(type) {
	case *ast.Field:
		t, err := d.tally(s.SelectionSet)
		t.fields, t.depth, t.roots = capped(t.fields+1), capped(t.depth+1), 1
		if s.Alias != s.Name {
			t.aliases = capped(t.aliases + 1)
		}
		if asksSchema(s) {
			t.schemas = capped(t.schemas + 1)
		}
		return t, err
	case *ast.InlineFragment:
		t, err := d.tally(s.SelectionSet)
		t.fields = capped(t.fields + 1)
		return t, err
	case *ast.FragmentSpread:
		t, err := d.spread(s.Name)
		t.fields = capped(t.fields + 1)
		return t, err
	}
	return tally{}, nil
}

// spread counts a fragment by its name; one that does not exist is empty.
func (d *document) spread(name string) (tally, *gqlerror.Error) {
	fragment := d.fragments[name]
	if fragment == nil {
		return tally{}, nil
	}
	t, err := d.fragment(fragment)
	if err != nil {
		return tally{}, err
	}
	return *t, nil
}

// fragment counts a fragment, once. One that is met again before it is counted spreads itself.
func (d *document) fragment(fragment *ast.FragmentDefinition) (*tally, *gqlerror.Error) {
	if t, met := d.tallies[fragment]; met {
		if t == nil {
			return nil, cycle(fragment)
		}
		return t, nil
	}
	d.tallies[fragment] = nil
	t, err := d.tally(fragment.SelectionSet)
	if err != nil {
		return nil, err
	}
	d.tallies[fragment] = &t
	return &t, nil
}

// cycle says what validation would say, but without going round first.
func cycle(fragment *ast.FragmentDefinition) *gqlerror.Error {
	err := gqlerror.ErrorPosf(fragment.Position, "Cannot spread fragment %q within itself.", fragment.Name)
	errcode.Set(err, errcode.ValidationFailed)
	return err
}

func (t *tally) add(u tally) {
	t.fields = capped(t.fields + u.fields)
	t.aliases = capped(t.aliases + u.aliases)
	t.roots = capped(t.roots + u.roots)
	t.schemas = capped(t.schemas + u.schemas)
	t.depth = max(t.depth, u.depth)
}
