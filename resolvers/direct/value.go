package direct

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
)

// Value is a value that writes itself. It takes the place of what a resolver returned: gqlgen
// accepts any [graphql.Marshaler] there.
type Value struct {
	size  int
	write func(out []byte) []byte
}

// valueOf returns the Value of something, as a writer writes it.
func valueOf[T any](p writer[T], of T) Value {
	return Value{size: p.size(of), write: func(out []byte) []byte { return p.write(out, of) }}
}

// Size returns how many bytes the texts have: nearly all that is written, and never more than that.
func (v Value) Size() int { return v.size }

// MarshalGQL implements [graphql.Marshaler].
func (v Value) MarshalGQL(w io.Writer) {
	var out []byte
	if buffer, ok := w.(*bytes.Buffer); ok { // gqlgen's own buffer, written in place
		buffer.Grow(2 * v.size)
		out = buffer.AvailableBuffer()
	}
	_, _ = w.Write(v.write(out)) // a buffer returns no error
}

// oneOf returns a Value of one object, or the object itself if it is nil or has to be resolved.
func oneOf[T any](ctx context.Context, base comment.MediaBase, of *object[T], one *T) any {
	if one == nil {
		return one
	}
	part, plain := writerHere(ctx, base, of)
	if !plain {
		return one
	}
	return valueOf(part, one)
}

// allOf returns a Value of a list, or the list itself if its elements have to be resolved. None of
// them is nil.
func allOf[T any](ctx context.Context, base comment.MediaBase, of *object[T], list []*T) any {
	part, plain := writerHere(ctx, base, of)
	if !plain {
		return list
	}
	return valueOf(listOf(part), list)
}

// writerHere returns a writer of the selections of the field that is being resolved. It leaves a
// field that may hold several types to gqlgen, which chooses the fragments.
func writerHere[T any](ctx context.Context, base comment.MediaBase, of *object[T]) (p writer[*T], plain bool) {
	field := graphql.GetFieldContext(ctx).Field
	if field.Definition.Type.Name() != of.name() {
		return writer[*T]{}, false
	}
	return of.writer(operation{graphql.GetOperationContext(ctx), base}, field.Selections)
}
