package lookahead

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// Reader reads the operations of one schema. It is safe for concurrent use.
type Reader struct {
	kinds map[*ast.FieldDefinition]Kind // of the fields that are not Plain
	// implements has the name of each object type with the names of its interfaces and unions. They
	// are in the order of gqlgen's code, so that gqlgen reuses the collected fields.
	implements map[string][]string
	roots      map[ast.Operation]*ast.Definition
}

// NewReader returns a Reader for the operations of a schema.
func NewReader(schema *ast.Schema) *Reader {
	r := &Reader{
		kinds:      map[*ast.FieldDefinition]Kind{},
		implements: map[string][]string{},
		roots:      map[ast.Operation]*ast.Definition{ast.Query: schema.Query, ast.Mutation: schema.Mutation, ast.Subscription: schema.Subscription},
	}
	for name, definition := range schema.Types {
		for _, field := range definition.Fields {
			if kind, known := kinds[name][field.Name]; known {
				r.kinds[field] = kind
			}
		}
		if definition.Kind == ast.Object {
			r.implements[name] = []string{name}
			for _, of := range schema.GetImplements(definition) {
				r.implements[name] = append(r.implements[name], of.Name)
			}
		}
	}
	return r
}

// Read reads a validated operation with its variables, and keeps the result with the operation for
// From. It must be called before the operation runs.
func (r *Reader) Read(operation *graphql.OperationContext) *Operation {
	root := r.roots[operation.Operation.Operation].Name
	read := &Operation{Fields: reading{r, operation}.fields(operation.Operation.SelectionSet, root, nil)}
	operation.Stats.SetExtension(extension, read)
	return read
}

// reading is the reading of one operation.
type reading struct {
	*Reader
	operation *graphql.OperationContext
}

// fields reads the fields of a selection on a type. page is the nearest page above, nil if there is
// none.
func (r reading) fields(set ast.SelectionSet, typeName string, page *Page) []Field {
	if len(set) == 0 {
		return nil
	}
	collected := graphql.CollectFields(r.operation, set, r.implements[typeName])
	fields := make([]Field, len(collected))
	for i, asked := range collected {
		r.field(&fields[i], asked, page)
	}
	return fields
}

// field reads a field and all below it.
func (r reading) field(f *Field, asked graphql.CollectedField, page *Page) {
	f.Field, f.Kind = asked.Field, r.kinds[asked.Definition]
	switch f.Kind {
	case Text:
		f.WantsText = true
	case LatestRated:
		f.WantsLatest = true
	case Statistics, Languages, MostHelpful:
		f.WantsStatistics = true
	case ListTotal:
		f.WantsStatistics = !page.counts(comment.CountTotal)
	case ListStats:
		f.WantsStatistics = !page.counts(comment.CountByRating)
	case PageCount, PageNumber:
		f.WantsStatistics = page != nil && page.Filter.Counted() && page.Slice.Size > 0
	}
	if f.Kind != Plain && len(asked.Definition.Arguments) > 0 {
		f.readArguments(asked.ArgumentMap(r.operation.Variables))
	}
	if f.Page != nil {
		page = f.Page
	}
	page.note(f)
	f.Fields = r.fields(asked.Selections, asked.Definition.Type.Name(), page)
	if f.Page != nil {
		f.Page.OnlyCounts = len(f.Fields) > 0 && f.Page.Slice.Size == 0 && f.Page.Filter.Counted()
		// A field does not need statistics if the index of page numbers counts the list, or if the number
		// of the page is known.
		for i := range f.Fields {
			switch below := &f.Fields[i]; below.Kind {
			case ListTotal:
				below.WantsStatistics = below.WantsStatistics && !page.LooksUp()
			case ListStats:
			case PageCount:
				f.Page.OnlyCounts = false
				below.WantsStatistics = below.WantsStatistics && !page.LooksUp()
			case PageNumber:
				f.Page.OnlyCounts = false
				below.WantsStatistics = below.WantsStatistics && page.Slice.FromEnd && !page.LooksUp()
			default:
				f.Page.OnlyCounts = false
			}
		}
	}
	for i := range f.Fields {
		f.WantsText = f.WantsText || f.Fields[i].WantsText
		f.WantsLatest = f.WantsLatest || f.Fields[i].WantsLatest
		f.WantsStatistics = f.WantsStatistics || f.Fields[i].WantsStatistics
	}
}

// note notes on the page that a field below asks for cursors, the plan or page numbers.
func (p *Page) note(f *Field) {
	if p == nil {
		return
	}
	switch n := &p.Numbering; f.Kind {
	case Cursor:
		p.Cursors = true
	case Plan:
		p.Plan = true
	case PageCount:
		n.Count = true
	case PageNumber:
		n.Number = true
	case PageLinks:
		n.Links, n.Around = true, max(n.Around, min(max(f.Count, 0), comment.MaxAround))
	}
}

// counts adds a count of the list to the page, and reports true, unless the statistics have the
// count.
func (p *Page) counts(counting comment.Counting) bool {
	if p == nil || p.Filter.Counted() {
		return false
	}
	p.Count = max(p.Count, counting)
	return true
}
