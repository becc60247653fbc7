package limits

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkOverlaps refuses documents in which too many fields answer under the same name in the same
// place. Validation compares each pair of them, then all their inner fields with each other. What
// is expanded here is bounded already.
func (l Limits) checkOverlaps(
	doc *ast.QueryDocument, fragments map[string]*ast.FragmentDefinition,
) *gqlerror.Error {
	o := overlaps{fragments: fragments, limit: l.Overlaps}
	for _, operation := range doc.Operations {
		o.merge([]ast.SelectionSet{operation.SelectionSet})
	}
	for _, fragment := range doc.Fragments {
		o.merge([]ast.SelectionSet{fragment.SelectionSet})
	}
	return atMost(TooManyOverlaps, o.pairs, l.Overlaps)
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
