package limits

import (
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkOverlaps refuses documents in which too many fields answer under one name in one place. Validation holds each
// such pair against each other, then their inner fields, all with all. What is expanded here is bounded already.
func (d *document) checkOverlaps(doc *ast.QueryDocument) *gqlerror.Error {
	for _, operation := range doc.Operations {
		d.merge([]ast.SelectionSet{operation.SelectionSet})
	}
	for _, fragment := range doc.Fragments {
		d.merge([]ast.SelectionSet{fragment.SelectionSet})
	}
	return atMost(TooManyOverlaps, d.overlaps, d.limits.Overlaps)
}

// merge counts the pairs in selection sets that answer in one place.
func (d *document) merge(sets []ast.SelectionSet) {
	m := merged{document: d, inner: map[string][]ast.SelectionSet{}}
	for _, set := range sets {
		m.expand(set)
	}
	for _, inner := range m.inner {
		if d.overlaps > d.limits.Overlaps {
			return
		}
		d.overlaps = capped(d.overlaps + len(inner)*(len(inner)-1)/2)
		d.merge(inner)
	}
}

// merged are the fields of one place by the name they answer under, each with its inner fields.
type merged struct {
	document *document
	inner    map[string][]ast.SelectionSet
}

func (m *merged) expand(set ast.SelectionSet) {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			m.inner[s.Alias] = append(m.inner[s.Alias], s.SelectionSet)
		case *ast.InlineFragment:
			m.expand(s.SelectionSet)
		case *ast.FragmentSpread:
			if fragment := m.document.fragments[s.Name]; fragment != nil {
				m.expand(fragment.SelectionSet)
			}
		}
	}
}
