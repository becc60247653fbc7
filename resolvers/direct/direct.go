// Package direct writes those parts of an answer that need no resolver. gqlgen resolves each field of each element of a
// list by itself, and starts a goroutine for each element: right for fields that read, and most of the work on a page when
// all of its fields are at hand. What is written here is the same, byte for byte; whatever else is asked for is left to
// gqlgen.
package direct

import (
	"bytes"
	"context"
	"io"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/graph"
)

// Fields is a [graphql.FieldMiddleware]. It replaces the value of a field by a [Value] if all that is asked of it is at
// hand, and leaves it as it is otherwise.
func Fields(ctx context.Context, next graphql.Resolver) (any, error) {
	result, err := next(ctx)
	if err != nil {
		return result, err
	}
	switch v := result.(type) {
	case []*graph.CommentEdge:
		return allOf(ctx, edges, v), nil
	case []*comment.Comment:
		return allOf(ctx, comments, v), nil
	case []*comment.Product:
		return shelfOf(ctx, v), nil
	case *graph.CommentEdge:
		return oneOf(ctx, edges, v), nil
	case *comment.Comment:
		return oneOf(ctx, comments, v), nil
	case *comment.Statistics:
		return oneOf(ctx, counts, v), nil
	case *graph.PageInfo:
		return oneOf(ctx, pageInfos, v), nil
	}
	return result, nil
}

// Value is a value that is ready to be written. It takes the place of what a resolver returned, which gqlgen allows of
// whatever can write itself.
type Value struct {
	size  int
	write func(out []byte) []byte
}

// Size is about how many bytes are written, never more than there will be.
func (v Value) Size() int { return v.size }

// MarshalGQL implements [graphql.Marshaler].
func (v Value) MarshalGQL(w io.Writer) {
	var out []byte
	if buffer, ok := w.(*bytes.Buffer); ok { // gqlgen's, which is written to in place
		buffer.Grow(v.size + v.size/8)
		out = buffer.AvailableBuffer()
	}
	_, _ = w.Write(v.write(out)) // the writer is a buffer
}

// oneOf is a Value of one object, or the object itself if it is nil or has to be resolved.
func oneOf[T any](ctx context.Context, of *object[T], one *T) any {
	if one == nil {
		return one
	}
	part, plain := askedHere(ctx, of)
	if !plain {
		return one
	}
	return Value{size: part.size(one), write: func(out []byte) []byte { return part.write(out, one) }}
}

// allOf is a Value of a list, or the list itself if its elements have to be resolved. None of them is nil.
func allOf[T any](ctx context.Context, of *object[T], list []*T) any {
	part, plain := askedHere(ctx, of)
	if !plain {
		return list
	}
	whole := listOf(part)
	return Value{size: whole.size(list), write: func(out []byte) []byte { return whole.write(out, list) }}
}

// askedHere tells how to write what is asked of the field that is being resolved. Of a field that may hold several types,
// gqlgen has to choose what is asked.
func askedHere[T any](ctx context.Context, of *object[T]) (part[*T], bool) {
	field := graphql.GetFieldContext(ctx).Field
	if field.Definition.Type.Name() != of.name {
		return part[*T]{}, false
	}
	return of.asked(graphql.GetOperationContext(ctx), field.Selections)
}
