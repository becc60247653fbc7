package resolvers

import (
	"bytes"
	"context"
	"io"
	"slices"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/graph/lookahead"
)

// part is a selected field of an object.
type part struct {
	before   string // a comma and the name in the answer
	get      func(object, argument any) any
	argument any
	below    []part // those of the field's objects
	texts    bool   // whether it has texts, so that Size needs its value
}

// textless are the scalars that Size does not count.
var textless = []string{"Int", "Float", "Boolean", "DateTime"}

// here returns the selected fields of the objects of the field that is being resolved. plain is
// false if any of them needs a resolver.
func (t types) here(ctx context.Context) (parts []part, plain bool) {
	at := graphql.GetFieldContext(ctx)
	return t.parts(at.Field.Definition.Type.Name(), lookahead.From(ctx).Fields, graphql.GetOperationContext(ctx).Variables)
}

// parts returns the selected fields of objects of a type.
func (t types) parts(name string, selected []lookahead.Field, variables map[string]any) (parts []part, plain bool) {
	parts = make([]part, len(selected))
	separator := ""
	for i := range selected {
		asked := &selected[i]
		if asked.Name == "__typename" {
			parts[i].get = func(any, any) any { return &name }
		} else {
			known := t[name][asked.Name]
			for _, argument := range asked.Definition.Arguments {
				if argument.Name != known.argument {
					return nil, false
				}
				if parts[i].argument = asked.ArgumentMap(variables)[argument.Name]; !known.takes(parts[i].argument) {
					return nil, false
				}
			}
			if parts[i].get = known.get; known.get == nil {
				return nil, false
			}
		}
		parts[i].before = separator + `"` + asked.Alias + `":`
		separator = ","
		of := asked.Definition.Type.Name()
		if parts[i].below, plain = t.parts(of, asked.Fields, variables); !plain {
			return nil, false
		}
		parts[i].texts = len(asked.Fields) == 0 && !slices.Contains(textless, of) ||
			slices.ContainsFunc(parts[i].below, func(p part) bool { return p.texts })
	}
	return parts, true
}

// DirectList is a list that writes itself. It takes the place of what a resolver returned: gqlgen
// accepts any [graphql.Marshaler] there.
type DirectList struct {
	list  []any
	parts []part
	size  int
}

// directList returns the DirectList of a list of objects, none of which is nil.
func directList[T any](objects []*T, parts []part) DirectList {
	v := DirectList{list: anyOf(objects), parts: parts}
	v.size = sizeOf(v.list, parts)
	return v
}

// Size returns the length of the texts in bytes, a lower bound of what MarshalGQL writes. Texts are
// most of it.
func (v DirectList) Size() int { return v.size }

// MarshalGQL implements [graphql.Marshaler]. It makes room for the list at once: texts are two
// thirds of most pages.
func (v DirectList) MarshalGQL(w io.Writer) {
	if buffer, known := w.(*bytes.Buffer); known {
		buffer.Grow(v.size + v.size/2)
	}
	writeJSON(w, v.list, v.parts)
}

// sizeOf returns the length of the texts in a value.
func sizeOf(value any, below []part) (size int) {
	switch v := value.(type) {
	case *string:
		if v != nil {
			return len(*v)
		}
	case []any:
		for _, element := range v {
			size += sizeOf(element, below)
		}
	case nil:
	default:
		for i := range below {
			if below[i].texts {
				size += sizeOf(below[i].get(v, below[i].argument), below[i].below)
			}
		}
	}
	return size
}

// writeJSON writes a value in JSON: nil, a text, a number, a condition, a time, or an object with
// the fields below, or a list of such objects. Texts and times are pointers, and null if these are
// nil; so are whole numbers that may be null.
func writeJSON(w io.Writer, value any, below []part) {
	var leaf graphql.Marshaler = graphql.Null
	switch v := value.(type) {
	case *string:
		if v != nil {
			leaf = graphql.MarshalString(*v)
		}
	case int:
		leaf = graphql.MarshalInt(v)
	case *int:
		if v != nil {
			leaf = graphql.MarshalInt(*v)
		}
	case float64:
		leaf = graphql.MarshalFloat(v)
	case bool:
		leaf = graphql.MarshalBoolean(v)
	case *time.Time:
		if v != nil {
			leaf = graph.MarshalDateTime(*v)
		}
	case []any:
		separator := "["
		for _, element := range v {
			_, _ = io.WriteString(w, separator) // a buffer of gqlgen, which returns no error
			writeJSON(w, element, below)
			separator = ","
		}
		if len(v) == 0 {
			_, _ = io.WriteString(w, "[")
		}
		_, _ = io.WriteString(w, "]")
		return
	case nil:
	default:
		_, _ = io.WriteString(w, "{")
		for i := range below {
			_, _ = io.WriteString(w, below[i].before)
			writeJSON(w, below[i].get(v, below[i].argument), below[i].below)
		}
		_, _ = io.WriteString(w, "}")
		return
	}
	leaf.MarshalGQL(w)
}
