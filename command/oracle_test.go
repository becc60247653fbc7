package command_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// oracle answers an operation by the rules of the specification: "Executing Selection Sets" and
// "CoerceArgumentValues()". It asks the service for one leaf at a time.
type oracle struct {
	tb        testing.TB
	schema    *ast.Schema
	text      string
	operation *ast.OperationDefinition
	variables map[string]any
	ask       func(query string, variables map[string]any) answer
	memory    *sync.Map         // known answers, by query
	errors    map[string]string // codes of errors, by path in the whole answer
}

// position is a place in an answer.
type position struct {
	fields []string // the operation's fields that lead to it
	apart  []any    // its path in the answer to that operation
	path   []any    // its path in the whole answer
}

func (p position) field(text, name, alias string) position {
	return position{append(slices.Clip(p.fields), text), append(slices.Clip(p.apart), name), append(slices.Clip(p.path), alias)}
}

func (p position) element(i int) position {
	return position{p.fields, append(slices.Clip(p.apart), i), append(slices.Clip(p.path), i)}
}

// single is the answer to an operation that asks for one leaf.
type single struct {
	data  any               // objects as maps, lists as slices, and leaves as JSON
	codes map[string]string // of errors, by path
}

// single asks for the one leaf of a place.
func (o *oracle) single(p position) single {
	query := "{ " + strings.Join(p.fields, " { ")
	query += strings.Repeat(" }", strings.Count(query, "{")-strings.Count(query, "}"))
	if known, ok := o.memory.Load(query); ok {
		return known.(single)
	}
	got := o.ask(query, nil)
	if len(got.Errors) > 0 && got.Errors[0].Path == nil {
		o.tb.Fatalf("%s is refused: %v", query, got.Errors)
	}
	out := single{tree(got.Data), map[string]string{}}
	for _, err := range got.Errors {
		out.codes[fmt.Sprint(err.Path)] = fmt.Sprint(err.Extensions["code"])
	}
	o.memory.Store(query, out)
	return out
}

// tree decodes the objects and lists of an answer. Null is nil.
func tree(data json.RawMessage) any {
	switch {
	case len(data) == 0 || string(data) == "null":
		return nil
	case data[0] == '{':
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(data, &fields) // it was decoded before
		out := map[string]any{}
		for name, field := range fields {
			out[name] = tree(field)
		}
		return out
	case data[0] == '[':
		var elements []json.RawMessage
		_ = json.Unmarshal(data, &elements)
		out := make([]any, len(elements))
		for i := range elements {
			out[i] = tree(elements[i])
		}
		return out
	}
	return string(data)
}

// group is the fields with one response name.
type group struct {
	*ast.Field
	sets []ast.SelectionSet
}

// collect groups the fields that apply to an object, in the order of the answer.
func (o *oracle) collect(object string, set ast.SelectionSet, groups []*group) []*group {
	for _, selection := range set {
		switch s := selection.(type) {
		case *ast.Field:
			if !o.applies(s.Directives) {
				continue
			}
			i := slices.IndexFunc(groups, func(g *group) bool { return g.Alias == s.Alias })
			if i < 0 {
				i, groups = len(groups), append(groups, &group{Field: s})
			}
			groups[i].sets = append(groups[i].sets, s.SelectionSet)
		case *ast.InlineFragment:
			if o.applies(s.Directives) && o.is(object, s.TypeCondition) {
				groups = o.collect(object, s.SelectionSet, groups)
			}
		case *ast.FragmentSpread:
			if o.applies(s.Directives) && o.is(object, s.Definition.TypeCondition) {
				groups = o.collect(object, s.Definition.SelectionSet, groups)
			}
		}
	}
	return groups
}

func (o *oracle) applies(directives ast.DirectiveList) bool {
	for _, directive := range directives {
		argument := directive.Arguments[0]
		value, _, _ := o.coerce(argument.Value, directive.Definition.Arguments[0].Type)
		if value == (directive.Name == "skip") {
			return false
		}
	}
	return true
}

func (o *oracle) is(object, condition string) bool {
	return condition == "" || condition == object ||
		slices.ContainsFunc(o.schema.PossibleTypes[condition], func(d *ast.Definition) bool { return d.Name == object })
}

// object returns the answer to the fields of an object, or null if a field that cannot be null is.
func (o *oracle) object(at position, object string, sets []ast.SelectionSet) string {
	return o.joined(object, sets, func(g *group) string { return o.field(at, object, g) })
}

// joined returns an object whose fields have the given values.
func (o *oracle) joined(object string, sets []ast.SelectionSet, value func(*group) string) string {
	var groups []*group
	for _, set := range sets {
		groups = o.collect(object, set, groups)
	}
	var parts []string
	null := false
	for _, g := range groups {
		text := value(g)
		null = null || text == "null" && g.Definition.Type.NonNull
		parts = append(parts, mustJSON(g.Alias)+":"+text)
	}
	if null {
		return "null"
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// field returns the answer to a field of an object.
func (o *oracle) field(at position, object string, g *group) string {
	arguments, ok := o.arguments(g.Field)
	text := g.Name
	if given := literal(arguments); len(arguments) > 0 {
		text += "(" + given[1:len(given)-1] + ")"
	}
	if o.is(object, "Node") {
		text = "... on " + object + " { " + text
	}
	at = at.field(text, g.Name, g.Alias)
	if !ok {
		o.errors[fmt.Sprint(at.path)] = "BAD_INPUT"
		return "null"
	}
	leaf := at
	if o.schema.Types[g.Definition.Type.Name()].IsCompositeType() {
		leaf = at.field("__typename", "", "")
	}
	return o.value(at, o.single(leaf), g.Definition.Type, g.sets)
}

// value returns what an answer has at a place.
func (o *oracle) value(at position, answer single, of *ast.Type, sets []ast.SelectionSet) string {
	if code, failed := answer.codes[fmt.Sprint(at.apart)]; failed {
		o.errors[fmt.Sprint(at.path)] = code
	}
	value := answer.data
	for _, step := range at.apart {
		switch v := value.(type) {
		case map[string]any:
			value = v[step.(string)]
		case []any:
			value = v[step.(int)]
		}
	}
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		object := strings.Trim(v["__typename"].(string), `"`)
		return o.object(at, object, sets)
	case []any:
		var parts []string
		for i := range v {
			text := o.value(at.element(i), answer, of.Elem, sets)
			if text == "null" && of.Elem.NonNull {
				return "null"
			}
			parts = append(parts, text)
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return "null"
}

// arguments returns the values of a field's arguments, and whether all are valid.
func (o *oracle) arguments(field *ast.Field) (map[string]any, bool) {
	out := map[string]any{}
	for _, argument := range field.Arguments {
		value, given, ok := o.coerce(argument.Value, field.Definition.Arguments.ForName(argument.Name).Type)
		if !ok {
			return nil, false
		}
		if given {
			out[argument.Name] = value
		}
	}
	return out, true
}

// coerce returns a value with its variables replaced, whether the value is given, and whether each
// null in it is allowed.
func (o *oracle) coerce(v *ast.Value, of *ast.Type) (value any, given, ok bool) {
	switch v.Kind {
	case ast.Variable:
		sent, there := o.variables[v.Raw]
		if standard := o.operation.VariableDefinitions.ForName(v.Raw).DefaultValue; !there && standard != nil {
			return o.coerce(standard, of)
		}
		return sent, there, sent != nil || !of.NonNull
	case ast.ListValue:
		out := []any{}
		for _, child := range v.Children {
			element, _, ok := o.coerce(child.Value, of.Elem)
			if !ok {
				return nil, true, false
			}
			out = append(out, element)
		}
		return out, true, true
	case ast.ObjectValue:
		out := map[string]any{}
		for _, child := range v.Children {
			field, given, ok := o.coerce(child.Value, o.schema.Types[of.Name()].Fields.ForName(child.Name).Type)
			if !ok {
				return nil, true, false
			}
			if given {
				out[child.Name] = field
			}
		}
		return out, true, true
	}
	value = must.Get(v.Value(nil))(o.tb)
	return value, true, true
}
