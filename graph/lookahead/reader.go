package lookahead

import (
	"github.com/99designs/gqlgen/graphql"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// keptSelections is how many operations have their selections kept: as many as parsed documents.
const keptSelections = 256

// Reader reads the operations of one schema. It keeps the selections of operations without
// conditions, which are the same whatever the variables are. It is safe for concurrent use.
type Reader struct {
	selector selector
	kept     *lru.Cache[*ast.OperationDefinition, selection]
}

// NewReader returns a Reader for the operations of a schema.
func NewReader(schema *ast.Schema) *Reader {
	kept, err := lru.New[*ast.OperationDefinition, selection](keptSelections)
	if err != nil {
		panic(err) // the size is a constant
	}
	return &Reader{newSelector(schema), kept}
}

// Read reads a validated operation with its variables, and keeps the result with the operation for
// From. It must be called before the operation runs.
func (r *Reader) Read(operation *graphql.OperationContext) *Operation {
	root := r.root(operation)
	reading := reading{variables: operation.Variables, unused: make([]Field, root.count)}
	read := &Operation{Fields: reading.fields(root.below, nil)}
	operation.Stats.SetExtension(extension, read)
	return read
}

// root returns the selection of an operation.
func (r *Reader) root(operation *graphql.OperationContext) selection {
	root, known := r.kept.Get(operation.Operation)
	if known {
		return root
	}
	root = r.selector.root(operation)
	if !conditional(operation) {
		root.fix()
		r.kept.Add(operation.Operation, root)
	}
	return root
}

// fix reads the fields below once for all requests, if neither a variable nor a page has a say in
// them. Of the fields of a page, these are most.
func (s *selection) fix() {
	fixed := true
	s.count = len(s.below)
	for i := range s.below {
		below := &s.below[i]
		below.fix()
		if below.fixed == nil {
			s.count += below.count
		}
		fixed = fixed && below.fixed != nil && (below.kind == Plain || below.kind == Text)
	}
	if fixed {
		once := reading{unused: make([]Field, s.count)}
		s.fixed = once.fields(s.below, nil)
	}
}

// reading is the reading of one operation.
type reading struct {
	variables map[string]any
	unused    []Field // room for all fields of the operation that are not below fixed ones
}

// room returns room for so many fields.
func (r *reading) room(n int) []Field {
	taken := r.unused[:n:n]
	r.unused = r.unused[n:]
	return taken
}

// fields reads fields beside each other. The page is the nearest one above, nil if there is none.
func (r *reading) fields(asked []selection, page *Page) []Field {
	fields := r.room(len(asked))
	for i := range asked {
		r.field(&fields[i], &asked[i], page)
	}
	return fields
}

// field reads a field and all below it.
func (r *reading) field(f *Field, asked *selection, page *Page) {
	f.Field, f.Kind = asked.Field, asked.kind
	switch f.Kind {
	case Text:
		f.WantsText = true
	case LatestRated:
		f.WantsLatest = true
	case Statistics, Languages:
		f.WantsStatistics = true
	case ListTotal:
		f.WantsStatistics = !page.counts(comment.CountTotal)
	case ListStats:
		f.WantsStatistics = !page.counts(comment.CountByRating)
	}
	if f.Kind != Plain && len(asked.Definition.Arguments) > 0 {
		f.readArguments(arguments{asked.Field, r.variables})
	}
	if f.Page != nil {
		page = f.Page
	}
	page.tell(f)
	if f.Fields = asked.fixed; f.Fields == nil {
		f.Fields = r.fields(asked.below, page)
	}
	if f.Page != nil {
		f.Page.OnlyCounts = f.Page.Size == 0 && f.Page.Counted && onlyCounts(f.Fields)
	}
	for i := range f.Fields {
		f.WantsText = f.WantsText || f.Fields[i].WantsText
		f.WantsLatest = f.WantsLatest || f.Fields[i].WantsLatest
		f.WantsStatistics = f.WantsStatistics || f.Fields[i].WantsStatistics
	}
}

// onlyCounts reports whether all fields of a connection are counts of its whole list.
func onlyCounts(fields []Field) bool {
	for i := range fields {
		if kind := fields[i].Kind; kind != ListTotal && kind != ListStats {
			return false
		}
	}
	return len(fields) > 0
}

// tell has something told along with the page, if the field asks for that: of page numbers, or
// cursors.
func (p *Page) tell(f *Field) {
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
		n.Links, n.Around = true, max(n.Around, min(max(f.Around, 0), comment.MaxAround))
	}
}

// counts has something counted along with the page unless the statistics have the counts of its
// list, and reports whether it has.
func (p *Page) counts(counting comment.Counting) bool {
	if p == nil || p.Counted {
		return false
	}
	p.Count = max(p.Count, counting)
	return true
}
