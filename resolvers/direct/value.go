package direct

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"
)

// Value is a value that writes itself. It takes the place of what a resolver returned: gqlgen
// accepts any [graphql.Marshaler] there.
type Value struct {
	size  int
	write func(out []byte) []byte
}

// valueOf returns the Value that a part writes of something.
func valueOf[T any](p part[T], of T) Value {
	left := new(texts)
	size := p.size(of, left)
	all := *left
	return Value{size: size, write: func(out []byte) []byte {
		*left = all
		return p.write(out, of, left)
	}}
}

// valueIn returns what a resolved field became: null if it has no Value.
func valueIn(m graphql.Marshaler) Value {
	if v, ok := m.(Value); ok {
		return v
	}
	return Value{size: len(null), write: func(out []byte) []byte { return append(out, null...) }}
}

// room is for how many bytes to make room: some texts have bytes that are escaped.
func (v Value) room() int { return v.size + v.size/8 }

// Size returns about how many bytes are written, never more than there will be.
func (v Value) Size() int { return v.size }

// MarshalGQL implements [graphql.Marshaler].
func (v Value) MarshalGQL(w io.Writer) {
	var out []byte
	if buffer, ok := w.(*bytes.Buffer); ok { // gqlgen's own buffer, written in place
		buffer.Grow(v.room())
		out = buffer.AvailableBuffer()
	}
	_, _ = w.Write(v.write(out)) // a buffer returns no error
}

// oneOf returns a Value of one object, or the object itself if it is nil or has to be resolved.
func oneOf[T any](ctx context.Context, of *object[T], one *T) any {
	if one == nil {
		return one
	}
	part, plain := askedHere(ctx, of)
	if !plain {
		return one
	}
	return valueOf(part, one)
}

// allOf returns a Value of a list, or the list itself if its elements have to be resolved. None of
// them is nil.
func allOf[T any](ctx context.Context, of *object[T], list []*T) any {
	part, plain := askedHere(ctx, of)
	if !plain {
		return list
	}
	return valueOf(listOf(part), list)
}

// askedHere returns how to write what is asked of the field that is being resolved. It leaves a
// field that may hold several types to gqlgen, which chooses the fragments.
func askedHere[T any](ctx context.Context, of *object[T]) (p part[*T], plain bool) {
	field := graphql.GetFieldContext(ctx).Field
	if field.Definition.Type.Name() != of.name() {
		return part[*T]{}, false
	}
	return of.asked(graphql.GetOperationContext(ctx), field.Selections)
}

// values are those of resolved fields.
type values []named

// named is a value with the name under which it is asked for.
type named struct {
	name string
	Value
}

// of returns the value of a name, a Value of no size if there is none.
func (v values) of(name string) Value {
	for i := range v {
		if v[i].name == name {
			return v[i].Value
		}
	}
	return Value{}
}
