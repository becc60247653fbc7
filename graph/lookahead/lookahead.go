// Package lookahead analyses an operation once, after validation and before it runs. The limits add
// up its cost from the result. Resolvers look up what is selected below them: the page, its counts,
// and whether texts and statistics are needed.
package lookahead

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// Operation is what one operation asks for. It does not change once it is read.
type Operation struct {
	// Fields are the root fields, as they are executed: merged, and without those that @skip and
	// @include leave out.
	Fields []Field
}

// Field is a field of an operation with the fields below it.
type Field struct {
	*ast.Field
	// Kind says what the field reads.
	Kind Kind
	// Fields are the fields below, as they are executed. Below a field that may hold objects of
	// several types, they are those of all these types.
	Fields []Field
	// WantsText says that the text of a comment is asked for, here or below.
	WantsText bool
	// WantsLatest says that the newest comment with one of some ratings is asked for, here or below.
	WantsLatest bool
	// WantsStatistics says that the statistics of a product are needed, here or below. Counting a
	// list within a range of dates does not need them.
	WantsStatistics bool

	// Page is the page that a field of the kind Comments asks for, nil for other kinds.
	Page *Page
	// Count is how many ids the kinds OneNode, Nodes, Products and Entities name, how many elements a
	// Leaderboard, a Queue or OwnComments lists, how many comments Writes decides about, and how many
	// pages on either side PageLinks links to. The field refuses a number that is out of range.
	Count int
	// CommentIDs is how many ids that the field names are ids of comments.
	CommentIDs int
	// Single says that OwnComments are asked for in a single state, or Statistics of a product in a
	// single language.
	Single bool
	// OrLatest says that MostHelpful falls back to the newest comment.
	OrLatest bool
}

// Page is what a field of the kind Comments asks for.
type Page struct {
	// Query is the query of the page. It lacks the product, and whether texts are left out. For each
	// cursor it has some place, which the field reads. The field refuses a size or a number that is
	// out of range. Count says what to count of the whole list, if the statistics of the product do
	// not have its counts.
	comment.Query
	// Refused is why the field refuses the filter, which is empty then, or the sizes.
	Refused error
	// OnlyCounts says that the page has no comments, and only counts that the statistics have.
	OnlyCounts bool
	// FromNewest says that the page begins with the newest comment of its list, or ends with it if it
	// is taken from the end, and that the list is restricted to some ratings at most.
	FromNewest bool
	// Cursors says that cursors of comments of the page are asked for, Plan that its plan is.
	Cursors, Plan bool
}

// extension is the key of the Operation in gqlgen's operation context.
const extension = "Lookahead"

// From returns the field that is being resolved. It panics in an operation that was not read:
// Reader.Read comes before the operation runs.
func From(ctx context.Context) *Field {
	operation, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(extension).(*Operation)
	if !ok {
		panic("lookahead: the operation was not read before it ran")
	}
	return operation.field(graphql.GetFieldContext(ctx))
}

// Of returns what an operation asks for, nil if it was not read.
func Of(operation *graphql.OperationContext) *Operation {
	read, _ := operation.Stats.GetExtension(extension).(*Operation)
	return read
}

// Beside returns the selected fields of the object whose field is being resolved, including that
// field.
func Beside(ctx context.Context) []Field {
	operation := graphql.GetOperationContext(ctx).Stats.GetExtension(extension).(*Operation)
	return operation.fieldsBelow(graphql.GetFieldContext(ctx).Parent)
}

// field returns the field of a context.
func (o *Operation) field(at *graphql.FieldContext) *Field {
	fields := o.fieldsBelow(at.Parent)
	for i := range fields {
		if fields[i].Alias == at.Field.Alias && fields[i].ObjectDefinition.Name == at.Object {
			return &fields[i]
		}
	}
	panic("lookahead: " + at.Object + "." + at.Field.Name + " is resolved, but is not part of the operation")
}

// fieldsBelow returns the fields below a context.
func (o *Operation) fieldsBelow(at *graphql.FieldContext) []Field {
	switch {
	case at == nil:
		return o.Fields
	case at.Field.Field == nil: // the root, or an element of the list above
		return o.fieldsBelow(at.Parent)
	}
	return o.field(at).Fields
}

// WantsStatisticsOf reports whether statistics are needed by fields of a type, or below these. It
// is for a field that may hold objects of several types.
func (f *Field) WantsStatisticsOf(object string) bool {
	for i := range f.Fields {
		if f.Fields[i].WantsStatistics && f.Fields[i].ObjectDefinition.Name == object {
			return true
		}
	}
	return false
}
