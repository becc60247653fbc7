package direct

import (
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/comment"
)

// operation is the operation being answered, with the prefix of media addresses.
type operation struct {
	*graphql.OperationContext
	base comment.MediaBase
}

// writer writes a T in JSON: one field, or all selected fields.
type writer[T any] struct {
	// texts returns the length of the texts that write appends, in bytes. It is nil if there are none.
	texts func(T) int
	// write appends JSON.
	write func(out []byte, of T) []byte
}

// size returns the length of the texts of a T, in bytes.
func (p writer[T]) size(of T) int {
	if p.texts == nil {
		return 0
	}
	return p.texts(of)
}

// field is a field of a type that needs no resolver. A test holds type and arguments against the
// schema.
type field[T any] struct {
	// typ is the type as the schema has it, such as "String!".
	typ string
	// arguments are the names of the arguments that writer reads. A field with other arguments is left
	// to gqlgen.
	arguments []string
	// writer returns a writer of the field as an operation selects it, or false if the field needs a
	// resolver.
	writer func(operation operation, writer graphql.CollectedField) (writer[T], bool)
}

// object is an object type of the schema.
type object[T any] struct {
	// types are the name of the type and the names of its interfaces. Fragments on these apply.
	types []string
	// fields are those that need no resolver. The type may have others.
	fields map[string]field[*T]
}

func (o *object[T]) name() string { return o.types[0] }

// member is a field with the JSON before its value: a comma and its response name.
type member[T any] struct {
	writer[T]
	before string
}

// writer returns a writer of the selected fields of an object. plain is false if any of them needs
// a resolver.
func (o *object[T]) writer(operation operation, set ast.SelectionSet) (p writer[*T], plain bool) {
	collected := graphql.CollectFields(operation.OperationContext, set, o.types)
	members, separator := make([]member[*T], 0, len(collected)), ""
	for _, c := range collected {
		part, plain := o.member(operation, c)
		if !plain {
			return part, false
		}
		members = append(members, member[*T]{part, separator + `"` + c.Alias + `":`})
		separator = ","
	}
	return writer[*T]{
		texts: func(of *T) (size int) {
			for i := range members {
				size += members[i].size(of)
			}
			return size
		},
		write: func(out []byte, of *T) []byte {
			out = append(out, '{')
			for i := range members {
				out = members[i].write(append(out, members[i].before...), of)
			}
			return append(out, '}')
		},
	}, true
}

// member returns a writer of one field of an object.
func (o *object[T]) member(operation operation, c graphql.CollectedField) (p writer[*T], plain bool) {
	if c.Name == "__typename" {
		return writer[*T]{write: func(out []byte, _ *T) []byte { return appendCode(out, o.name()) }}, true
	}
	field, known := o.fields[c.Name]
	unknown := func(argument *ast.ArgumentDefinition) bool { return !slices.Contains(field.arguments, argument.Name) }
	if !known || slices.ContainsFunc(c.Definition.Arguments, unknown) {
		return writer[*T]{}, false
	}
	return field.writer(operation, c)
}

// listOf returns a writer of lists, by the writer of an element.
func listOf[T any](p writer[T]) writer[[]T] {
	return writer[[]T]{
		texts: func(list []T) (size int) {
			for _, of := range list {
				size += p.size(of)
			}
			return size
		},
		write: func(out []byte, list []T) []byte {
			out = append(out, '[')
			for i, of := range list {
				if i > 0 {
					out = append(out, ',')
				}
				out = p.write(out, of)
			}
			return append(out, ']')
		},
	}
}

const null = "null"

// appendText appends a text as gqlgen writes it: it escapes only what JSON does not allow in a
// string.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	out = append(out, '"')
	plain := 0 // start of the bytes that are not appended yet
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		out = append(out, text[plain:i]...)
		plain = i + 1
		switch c {
		case '\\', '"':
			out = append(out, '\\', c)
		case '\n':
			out = append(out, '\\', 'n')
		case '\r':
			out = append(out, '\\', 'r')
		case '\t':
			out = append(out, '\\', 't')
		default:
			out = append(out, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(append(out, text[plain:]...), '"')
}

// appendCode appends a text that JSON does not escape.
func appendCode(out []byte, text string) []byte {
	return append(append(append(out, '"'), text...), '"')
}

// appendTime appends a time as scalar.MarshalDateTime writes it.
func appendTime(out []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(out, '"'), time.RFC3339Nano), '"')
}
