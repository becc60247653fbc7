package direct

import (
	"slices"
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/internal/usage"
)

// part writes something of a T: one field, or all that is asked of it.
type part[T any] struct {
	// size is how many bytes write adds, or less.
	size func(T) int
	// write adds JSON to what is there.
	write func(out []byte, of T) []byte
}

// question is a field as it is asked.
type question struct {
	operation *graphql.OperationContext
	field     graphql.CollectedField
}

// field is a field of a type. It tells how to write what is asked of it, and whether that is possible.
type field[T any] func(q question) (part[T], bool)

// object is a type of the schema. Its fields are those that need no resolver; others may exist.
type object[T any] struct {
	name   string
	fields map[string]field[*T]
}

// member is a field with the name under which it is asked for.
type member[T any] struct {
	part[T]
	name string
}

// asked tells how to write what is asked of an object, and whether that is possible: not if any of it has to be resolved.
func (o *object[T]) asked(operation *graphql.OperationContext, set ast.SelectionSet) (part[*T], bool) {
	fields := graphql.CollectFields(operation, set, nil) // of an object, all fragments on whatever it is apply
	members := make([]member[*T], 0, len(fields))
	for _, f := range fields {
		field := o.fields[f.Name]
		if f.Name == "__typename" {
			field = text(func(*T) string { return o.name })
		}
		if field == nil {
			return part[*T]{}, false
		}
		part, plain := field(question{operation, f})
		if !plain {
			return part, false
		}
		members = append(members, member[*T]{part, f.Alias})
	}
	return whole(members), true
}

// whole writes an object of its members.
func whole[T any](members []member[T]) part[T] {
	return part[T]{
		size: func(of T) int {
			size := len("{}")
			for i := range members {
				size += len(`"":`) + len(members[i].name) + members[i].size(of)
			}
			return size
		},
		write: func(out []byte, of T) []byte {
			out = append(out, '{')
			for i := range members {
				if i > 0 {
					out = append(out, ',')
				}
				out = append(out, '"')
				out = append(out, members[i].name...)
				out = append(out, '"', ':')
				out = members[i].write(out, of)
			}
			return append(out, '}')
		},
	}
}

// listOf writes a list of what a part writes.
func listOf[T any](p part[T]) part[[]T] {
	return part[[]T]{
		size: func(list []T) int {
			size := len("[]")
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

// leaf is a field without fields of its own.
func leaf[T any](size func(T) int, write func([]byte, T) []byte) field[T] {
	return func(question) (part[T], bool) { return part[T]{size, write}, true }
}

// text is a field that holds a text.
func text[T any](get func(T) string) field[T] {
	return leaf(
		func(of T) int { return usage.QuotedBytes(get(of)) },
		func(out []byte, of T) []byte { return appendText(out, get(of)) })
}

// optional is a field that holds a text or null.
func optional[T any](get func(T) *string) field[T] {
	return leaf(
		func(of T) int {
			if text := get(of); text != nil {
				return usage.QuotedBytes(*text)
			}
			return len("null")
		},
		func(out []byte, of T) []byte {
			if text := get(of); text != nil {
				return appendText(out, *text)
			}
			return append(out, "null"...)
		})
}

// small is a field of a few bytes.
func small[T any](write func(out []byte, of T) []byte) field[T] {
	return leaf(func(T) int { return 1 }, write)
}

// number is a field that holds a whole number.
func number[T any](get func(T) int) field[T] {
	return small(func(out []byte, of T) []byte { return strconv.AppendInt(out, int64(get(of)), 10) })
}

// flag is a field that holds true or false.
func flag[T any](get func(T) bool) field[T] {
	return small(func(out []byte, of T) []byte { return strconv.AppendBool(out, get(of)) })
}

// nested is a field that holds an object.
func nested[T, U any](inner *object[U], get func(T) *U) field[T] {
	return func(q question) (part[T], bool) {
		p, plain := inner.asked(q.operation, q.field.Selections)
		return part[T]{
			size:  func(of T) int { return p.size(get(of)) },
			write: func(out []byte, of T) []byte { return p.write(out, get(of)) },
		}, plain
	}
}

// several is a field that holds a list of objects.
func several[T, U any](inner *object[U], get func(T) []*U) field[T] {
	return func(q question) (part[T], bool) {
		p, plain := inner.asked(q.operation, q.field.Selections)
		whole := listOf(p)
		return part[T]{
			size:  func(of T) int { return whole.size(get(of)) },
			write: func(out []byte, of T) []byte { return whole.write(out, get(of)) },
		}, plain
	}
}

// appendText writes a text as gqlgen does: only what JSON does not allow in a string is escaped.
func appendText(out []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	out = append(slices.Grow(out, len(text)+2), '"')
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '\\' && c != '"' {
			continue
		}
		out = append(out, text[start:i]...)
		start = i + 1
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
	return append(append(out, text[start:]...), '"')
}

// appendMoment writes a moment as scalar.MarshalDateTime does.
func appendMoment(out []byte, t time.Time) []byte {
	return append(t.UTC().AppendFormat(append(out, '"'), time.RFC3339Nano), '"')
}
