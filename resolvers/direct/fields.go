package direct

import (
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// leaf returns a scalar field of bounded length, which texts need not count.
func leaf[T any](typ string, write func(out []byte, of T) []byte) field[T] {
	return field[T]{typ: typ, writer: func(operation, graphql.CollectedField) (writer[T], bool) {
		return writer[T]{write: write}, true
	}}
}

// text returns a field that holds a text, of a type such as "ID". It is never null.
func text[T any](typ string, get func(T) string) field[T] {
	written := writer[T]{
		texts: func(of T) int { return len(get(of)) },
		write: func(out []byte, of T) []byte { return appendText(out, get(of)) },
	}
	return field[T]{typ: typ + "!", writer: func(operation, graphql.CollectedField) (writer[T], bool) { return written, true }}
}

// optionalText returns a field that holds a text or null.
func optionalText[T any](typ string, get func(T) *string) field[T] {
	written := writer[T]{
		texts: func(of T) int {
			if text := get(of); text != nil {
				return len(*text)
			}
			return 0
		},
		write: orNull(get, func(out []byte, text *string) []byte { return appendText(out, *text) }),
	}
	return field[T]{typ: typ, writer: func(operation, graphql.CollectedField) (writer[T], bool) { return written, true }}
}

// orNull returns a function that appends the value that get returns, or null if that is nil.
func orNull[T, V any](get func(T) *V, write func(out []byte, value *V) []byte) func(out []byte, of T) []byte {
	return func(out []byte, of T) []byte {
		if value := get(of); value != nil {
			return write(out, value)
		}
		return append(out, null...)
	}
}

// code returns a field that holds a text that JSON does not escape, such as a language. It is never
// null.
func code[T any](typ string, get func(T) string) field[T] {
	return leaf(typ+"!", func(out []byte, of T) []byte { return appendCode(out, get(of)) })
}

// number returns a field that holds a whole number.
func number[T any](get func(T) int) field[T] {
	return leaf("Int!", func(out []byte, of T) []byte { return strconv.AppendInt(out, int64(get(of)), 10) })
}

// optionalNumber returns a field that holds a whole number or null.
func optionalNumber[T any](get func(T) *int) field[T] {
	return leaf("Int", orNull(get, func(out []byte, n *int) []byte { return strconv.AppendInt(out, int64(*n), 10) }))
}

// flag returns a field that holds true or false.
func flag[T any](get func(T) bool) field[T] {
	return leaf("Boolean!", func(out []byte, of T) []byte { return strconv.AppendBool(out, get(of)) })
}

// moment returns a field that holds a time.
func moment[T any](get func(T) time.Time) field[T] {
	return leaf("DateTime!", func(out []byte, of T) []byte { return appendTime(out, get(of)) })
}

// optionalMoment returns a field that holds a time or null.
func optionalMoment[T any](get func(T) *time.Time) field[T] {
	return leaf("DateTime", orNull(get, func(out []byte, t *time.Time) []byte { return appendTime(out, *t) }))
}

// nested returns a field that holds an object. It is never null.
func nested[T, U any](inner *object[U], get func(T) *U) field[T] {
	return within(field[*U]{
		typ: inner.name() + "!",
		writer: func(operation operation, asked graphql.CollectedField) (writer[*U], bool) {
			return inner.writer(operation, asked.Selections)
		},
	}, get)
}

// optional returns a field that holds an object or null.
func optional[T, U any](inner *object[U], get func(T) *U) field[T] {
	return field[T]{
		typ: inner.name(),
		writer: func(operation operation, asked graphql.CollectedField) (writer[T], bool) {
			p, plain := inner.writer(operation, asked.Selections)
			return writer[T]{
				texts: func(of T) int {
					if object := get(of); object != nil {
						return p.size(object)
					}
					return 0
				},
				write: orNull(get, p.write),
			}, plain
		},
	}
}

// several returns a field that holds a list of objects. Neither it nor an element is ever null.
func several[T, U any](inner *object[U], get func(T) []*U) field[T] {
	return within(field[[]*U]{
		typ: "[" + inner.name() + "!]!",
		writer: func(operation operation, asked graphql.CollectedField) (writer[[]*U], bool) {
			p, plain := inner.writer(operation, asked.Selections)
			return listOf(p), plain
		},
	}, get)
}

// within returns a field whose value is get's part of an object.
func within[T, U any](of field[U], get func(T) U) field[T] {
	return field[T]{
		typ: of.typ,
		writer: func(operation operation, asked graphql.CollectedField) (writer[T], bool) {
			p, plain := of.writer(operation, asked)
			return writer[T]{
				texts: func(of T) int { return p.size(get(of)) },
				write: func(out []byte, of T) []byte { return p.write(out, get(of)) },
			}, plain
		},
	}
}
