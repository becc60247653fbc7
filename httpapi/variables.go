package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

const (
	// maxErrors is how many errors are reported before coercion stops.
	maxErrors = 50
	// maxShown bounds a number or the name of a field in an error, in bytes.
	maxShown = 40
)

// coerceVariables coerces the variables of a valid operation. It returns all that the operation
// declares, with their defaults, each as its type requires. Values are nil, bool, int64 for Int,
// float64 for Float, string, []any and map[string]any. A custom scalar gets a string, a bool, a
// json.Number, or a default of any of these types. If there are errors, it returns no variables.
func coerceVariables(schema *ast.Schema, operation *ast.OperationDefinition, sent map[string]any) (map[string]any, gqlerror.List) {
	r := variableReader{schema: schema}
	values := make(map[string]any, len(operation.VariableDefinitions))
	for _, definition := range operation.VariableDefinitions {
		if len(r.errors) >= maxErrors {
			break
		}
		r.variable = definition
		value, given := sent[definition.Variable]
		if !given && definition.DefaultValue != nil {
			var err error
			if value, err = definition.DefaultValue.Value(nil); err != nil {
				r.fail("Variable %q has a default value that is beyond any type.", "$"+definition.Variable)
			}
			given = true
		}
		switch {
		case !given && definition.Type.NonNull:
			r.fail("Variable %q of required type %q was not provided.", "$"+definition.Variable, definition.Type.String())
		case given && value == nil && definition.Type.NonNull:
			r.fail("Variable %q of non-null type %q must not be null.", "$"+definition.Variable, definition.Type.String())
		case given:
			values[definition.Variable] = r.read(definition.Type, value, ast.Path{ast.PathName(definition.Variable)})
		}
	}
	if len(r.errors) > 0 {
		return nil, r.errors
	}
	return values, nil
}

// variableReader coerces the variables of one operation.
type variableReader struct {
	schema   *ast.Schema
	variable *ast.VariableDefinition
	errors   gqlerror.List
}

// read coerces a value of a type, at a path that begins with the variable. After an error the
// result has no meaning.
func (r *variableReader) read(t *ast.Type, value any, at ast.Path) any {
	switch {
	case len(r.errors) >= maxErrors:
		return nil
	case value == nil && t.NonNull:
		r.failAt(at, nil, "expected type %q not to be null", t.String())
		return nil
	case value == nil:
		return nil
	case t.Elem != nil:
		elements, ok := value.([]any)
		if !ok { // a single value becomes a list of it
			return []any{r.read(t.Elem, value, at)}
		}
		out := make([]any, len(elements))
		for i, element := range elements {
			out[i] = r.read(t.Elem, element, append(slices.Clip(at), ast.PathIndex(i)))
		}
		return out
	}
	definition := r.schema.Types[t.NamedType]
	if definition.Kind == ast.InputObject {
		return r.readObject(definition, value, at)
	}
	read, problem := leaf(definition, value)
	if problem != "" {
		r.failAt(at, value, "%s cannot represent %s", definition.Name, problem)
	}
	return read
}

// readObject coerces an input object. gqlgen adds the defaults of its fields later.
func (r *variableReader) readObject(definition *ast.Definition, value any, at ast.Path) any {
	object, ok := value.(map[string]any)
	if !ok {
		r.failAt(at, value, "expected type %q to be an object, not %s", definition.Name, wrongKind(value))
		return nil
	}
	out := make(map[string]any, len(object))
	for _, field := range definition.Fields {
		inside, given := object[field.Name]
		switch {
		case given:
			out[field.Name] = r.read(field.Type, inside, append(slices.Clip(at), ast.PathName(field.Name)))
		case field.Type.NonNull && field.DefaultValue == nil:
			r.failAt(at, nil, "field %q of type %q is required", field.Name, field.Type.String())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch {
		case definition.Fields.ForName(name) != nil || len(r.errors) >= maxErrors:
		case len(name) > maxShown || !isName.MatchString(name):
			r.failAt(at, nil, "a field with a name that is too long or no name is not defined by type %q", definition.Name)
		default:
			r.failAt(at, nil, "field %q is not defined by type %q", name, definition.Name)
		}
	}
	return out
}

var isName = regexp.MustCompile(`^[_A-Za-z][_0-9A-Za-z]*$`)

// failAt adds an error about a value inside the variable.
func (r *variableReader) failAt(at ast.Path, value any, format string, arguments ...any) {
	place := ""
	if len(at) > 1 {
		place = fmt.Sprintf(" at %q", at.String())
	}
	r.fail("Variable %q got invalid value%s%s: %s.", "$"+r.variable.Variable, shown(value), place, fmt.Sprintf(format, arguments...))
}

// fail adds an error at the definition of the variable.
func (r *variableReader) fail(format string, arguments ...any) {
	r.errors = append(r.errors, gqlerror.ErrorPosf(r.variable.Position, format, arguments...))
}

// shown returns a value as an error repeats it, after a space: short numbers, and booleans. It is
// empty for other values.
func shown(value any) string {
	switch v := value.(type) {
	case bool:
		return " " + strconv.FormatBool(v)
	case json.Number:
		if len(v) <= maxShown {
			return " " + v.String()
		}
	}
	return ""
}
