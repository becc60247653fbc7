package direct

import (
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// part writes something of a T: one field, or everything asked of it.
type part[T any] struct {
	// size returns how many bytes write adds, or fewer.
	size func(T, *texts) int
	// write appends JSON. It takes the texts that size left.
	write func(out []byte, of T, known *texts) []byte
}

// field is a field of a type that needs no resolver. A test holds type and arguments against the
// schema.
type field[T any] struct {
	// typ is the type as the schema has it, such as "String!".
	typ string
	// arguments are the names of those that asked reads. A field of the schema that has others is
	// left to gqlgen.
	arguments []string
	// asked returns how to write what an operation asks of the field, and whether it can be
	// written.
	asked func(operation *graphql.OperationContext, asked graphql.CollectedField) (part[T], bool)
}

// takes reports whether the field knows all arguments that the schema has for it.
func (f field[T]) takes(arguments ast.ArgumentDefinitionList) bool {
	for _, argument := range arguments {
		if !slices.Contains(f.arguments, argument.Name) {
			return false
		}
	}
	return true
}

// object is an object type of the schema.
type object[T any] struct {
	// types are the name of the type and the names of its interfaces. Fragments on these apply.
	types []string
	// fields are those that need no resolver. The type may have others.
	fields map[string]field[*T]
}

func (o *object[T]) name() string { return o.types[0] }

// member is a field with what is written before it: the name under which it is asked for.
type member[T any] struct {
	part[T]
	before string
}

// asked returns how to write what is asked of an object. It cannot be written if any of it has to
// be resolved.
func (o *object[T]) asked(operation *graphql.OperationContext, set ast.SelectionSet) (p part[*T], plain bool) {
	collected := graphql.CollectFields(operation, set, o.types)
	members, separator := make([]member[*T], 0, len(collected)), ""
	for _, c := range collected {
		part, plain := o.member(operation, c)
		if !plain {
			return part, false
		}
		members = append(members, member[*T]{part, separator + `"` + c.Alias + `":`})
		separator = ","
	}
	return whole(members), true
}

// member returns how to write one field of an object.
func (o *object[T]) member(operation *graphql.OperationContext, c graphql.CollectedField) (p part[*T], plain bool) {
	if c.Name == "__typename" {
		return typename[*T](o.name()), true
	}
	field, known := o.fields[c.Name]
	if !known || !field.takes(c.Definition.Arguments) {
		return part[*T]{}, false
	}
	return field.asked(operation, c)
}

// typename writes the name of a type.
func typename[T any](name string) part[T] {
	quoted := `"` + name + `"`
	return part[T]{
		size:  func(T, *texts) int { return len(quoted) },
		write: func(out []byte, _ T, _ *texts) []byte { return append(out, quoted...) },
	}
}

// whole writes an object of its members.
func whole[T any](members []member[T]) part[T] {
	return part[T]{
		size: func(of T, known *texts) int {
			size := len("{}")
			for i := range members {
				size += len(members[i].before) + members[i].size(of, known)
			}
			return size
		},
		write: func(out []byte, of T, known *texts) []byte {
			out = append(out, '{')
			for i := range members {
				out = members[i].write(append(out, members[i].before...), of, known)
			}
			return append(out, '}')
		},
	}
}

// listOf writes a list whose elements a part writes.
func listOf[T any](p part[T]) part[[]T] {
	return part[[]T]{
		size: func(list []T, known *texts) int {
			*known = slices.Grow(*known, len(list)*usualTexts)
			size := len("[]")
			for _, of := range list {
				size += p.size(of, known)
			}
			return size
		},
		write: func(out []byte, list []T, known *texts) []byte {
			out = append(out, '[')
			for i, of := range list {
				if i > 0 {
					out = append(out, ',')
				}
				out = p.write(out, of, known)
			}
			return append(out, ']')
		},
	}
}

// usualTexts is how many texts an element of a list has: the title and the text of a comment, and the
// name of its author.
const usualTexts = 3
