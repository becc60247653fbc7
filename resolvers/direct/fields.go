package direct

import (
	"strconv"
	"time"

	"github.com/99designs/gqlgen/graphql"
)

// leaf returns a field that has no fields of its own.
func leaf[T any](typ string, size func(T, *texts) int, write func([]byte, T, *texts) []byte) field[T] {
	written := part[T]{size, write}
	return field[T]{
		typ:   typ,
		asked: func(*graphql.OperationContext, graphql.CollectedField) (part[T], bool) { return written, true },
	}
}

// text returns a field that holds a text, of a type such as "ID". It is never null.
func text[T any](typ string, get func(T) string) field[T] {
	return leaf(typ+"!",
		func(of T, known *texts) int { return known.count(get(of)) },
		func(out []byte, of T, known *texts) []byte { return known.appendText(out, get(of)) })
}

// code returns a field that holds a text of which JSON escapes nothing, such as a language. It is
// never null.
func code[T any](typ string, get func(T) string) field[T] {
	return leaf(typ+"!",
		func(of T, _ *texts) int { return len(get(of)) + len(`""`) },
		func(out []byte, of T, _ *texts) []byte { return append(append(append(out, '"'), get(of)...), '"') })
}

// optionalText returns a field that holds a text or null.
func optionalText[T any](typ string, get func(T) *string) field[T] {
	return leaf(typ,
		func(of T, known *texts) int {
			if text := get(of); text != nil {
				return known.count(*text)
			}
			return len(null)
		},
		func(out []byte, of T, known *texts) []byte {
			if text := get(of); text != nil {
				return known.appendText(out, *text)
			}
			return append(out, null...)
		})
}

// short returns a field of a few bytes.
func short[T any](typ string, write func(out []byte, of T) []byte) field[T] {
	return leaf(typ,
		func(T, *texts) int { return 1 },
		func(out []byte, of T, _ *texts) []byte { return write(out, of) })
}

// number returns a field that holds a whole number.
func number[T any](get func(T) int) field[T] {
	return short("Int!", func(out []byte, of T) []byte { return strconv.AppendInt(out, int64(get(of)), 10) })
}

// flag returns a field that holds true or false.
func flag[T any](get func(T) bool) field[T] {
	return short("Boolean!", func(out []byte, of T) []byte { return strconv.AppendBool(out, get(of)) })
}

// moment returns a field that holds a time.
func moment[T any](get func(T) time.Time) field[T] {
	return short("DateTime!", func(out []byte, of T) []byte { return appendTime(out, get(of)) })
}

// optionalMoment returns a field that holds a time or null.
func optionalMoment[T any](get func(T) *time.Time) field[T] {
	return short("DateTime", func(out []byte, of T) []byte {
		if t := get(of); t != nil {
			return appendTime(out, *t)
		}
		return append(out, null...)
	})
}

// nested returns a field that holds an object. It is never null.
func nested[T, U any](inner *object[U], get func(T) *U) field[T] {
	return within(field[*U]{
		typ: inner.name() + "!",
		asked: func(operation *graphql.OperationContext, asked graphql.CollectedField) (part[*U], bool) {
			return inner.asked(operation, asked.Selections)
		},
	}, get)
}

// several returns a field that holds a list of objects. Neither it nor an element is ever null.
func several[T, U any](inner *object[U], get func(T) []*U) field[T] {
	return within(field[[]*U]{
		typ: "[" + inner.name() + "!]!",
		asked: func(operation *graphql.OperationContext, asked graphql.CollectedField) (part[[]*U], bool) {
			p, plain := inner.asked(operation, asked.Selections)
			return listOf(p), plain
		},
	}, get)
}

// within returns a field of what an object holds.
func within[T, U any](of field[U], get func(T) U) field[T] {
	return field[T]{
		typ: of.typ, arguments: of.arguments,
		asked: func(operation *graphql.OperationContext, asked graphql.CollectedField) (part[T], bool) {
			p, plain := of.asked(operation, asked)
			return part[T]{
				size:  func(of T, known *texts) int { return p.size(get(of), known) },
				write: func(out []byte, of T, known *texts) []byte { return p.write(out, get(of), known) },
			}, plain
		},
	}
}

// resolved returns a field whose value has been made by a resolver.
func resolved[T any](typ string, arguments []string, get func(T) values) field[T] {
	return field[T]{
		typ: typ, arguments: arguments,
		asked: func(_ *graphql.OperationContext, asked graphql.CollectedField) (part[T], bool) {
			return part[T]{
				size:  func(of T, _ *texts) int { return get(of).of(asked.Alias).size },
				write: func(out []byte, of T, _ *texts) []byte { return get(of).of(asked.Alias).write(out) },
			}, true
		},
	}
}

// wholeNumber writes a number by itself.
var wholeNumber = part[*int]{
	size:  func(*int, *texts) int { return 1 },
	write: func(out []byte, n *int, _ *texts) []byte { return strconv.AppendInt(out, int64(*n), 10) },
}
