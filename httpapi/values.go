package httpapi

import (
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// wrong names the kind of a value that its type does not accept, such as "a string" or "a number
// beyond 32 bits". It never has the value itself, which may be a customer's text.
type wrong string

// The kinds of wrong values.
const (
	aString    wrong = "a string"
	aBoolean   wrong = "a boolean"
	aNumber    wrong = "a number"
	aFraction  wrong = "a fraction"
	aList      wrong = "a list"
	anObject   wrong = "an object"
	anEnum     wrong = "an enum value"
	beyond32   wrong = "a number beyond 32 bits"
	beyond64   wrong = "a number beyond 64 bits: send it as a string"
	beyondAll  wrong = "a number beyond 64 bits"
	notInEnum  wrong = "a string that is none of its values"
	outOfThese wrong = "a value of this kind"
)

// wrongKind returns the kind of a value of decoded JSON.
func wrongKind(value any) wrong {
	switch value.(type) {
	case string:
		return aString
	case bool:
		return aBoolean
	case json.Number, int64, float64:
		return aNumber
	case []any:
		return aList
	case map[string]any:
		return anObject
	}
	return outOfThese
}

// leaf coerces a value of a scalar or an enum by the rules of input coercion in the specification
// (sections 3.5 and 3.9), as graphql-js does. Numbers are json.Number, or int64 and float64 from a
// default.
func leaf(definition *ast.Definition, value any) (any, wrong) {
	if definition.Kind == ast.Enum {
		name, ok := value.(string)
		switch {
		case !ok:
			return nil, wrongKind(value)
		case definition.EnumValues.ForName(name) == nil: // in its exact case
			return nil, notInEnum
		}
		return name, ""
	}
	switch definition.Name {
	case "Int":
		return asInteger(value)
	case "Float":
		return asFloat(value)
	case "ID":
		return asID(value)
	case "String":
		text, ok := value.(string)
		return unless(ok, text, value)
	case "Boolean":
		condition, ok := value.(bool)
		return unless(ok, condition, value)
	case anyScalar:
		keys, ok := value.(map[string]any)
		return unless(ok, withID(keys), value)
	}
	// The value of a custom scalar, which checks it. Only anything takes an object, and none takes a
	// list.
	switch kind := wrongKind(value); kind {
	case aString, aBoolean, aNumber:
		return value, ""
	default:
		return nil, kind
	}
}

// unless returns a value that was read, or the kind of the value if it was not.
func unless(ok bool, read, value any) (any, wrong) {
	if !ok {
		return nil, wrongKind(value)
	}
	return read, ""
}

// anyScalar is the scalar of Apollo Federation for representations, which are objects.
const anyScalar = "_Any"

// withID returns a representation whose id, if that is a whole number, is a string like any ID.
func withID(keys map[string]any) map[string]any {
	text, problem := asID(keys["id"])
	if problem != "" { // the field reports it
		return keys
	}
	keys = maps.Clone(keys)
	keys["id"] = text
	return keys
}

// asInteger accepts whole numbers of 32 bits in any notation: 1, 1.0 and 1e0 are the same number in
// JSON.
func asInteger(value any) (any, wrong) {
	number, kind := asFloat(value)
	switch {
	case kind == beyondAll:
		return nil, beyond32
	case kind != "":
		return nil, kind
	case number != math.Trunc(number):
		return nil, aFraction
	case number < math.MinInt32 || number > math.MaxInt32:
		return nil, beyond32
	}
	return int64(number), ""
}

// maxExact is the largest whole number that no other whole number becomes as a float64.
const maxExact = 1<<53 - 1

// asID accepts strings, and whole numbers, which become strings. Large numbers keep their digits.
func asID(value any) (any, wrong) {
	if text, ok := value.(string); ok {
		return text, ""
	}
	if number, ok := value.(json.Number); ok {
		if n, err := strconv.ParseInt(number.String(), 10, 64); err == nil {
			return strconv.FormatInt(n, 10), ""
		}
	}
	number, kind := asFloat(value)
	switch {
	case kind == beyondAll || math.Abs(number) > maxExact:
		return nil, beyond64
	case kind != "":
		return nil, kind
	case number != math.Trunc(number):
		return nil, aFraction
	}
	return strconv.FormatInt(int64(number), 10), ""
}

// asFloat returns a number as float64, or the kind of the value if it is not a number.
func asFloat(value any) (float64, wrong) {
	switch v := value.(type) {
	case json.Number:
		number, err := v.Float64()
		if errors.Is(err, strconv.ErrRange) {
			return 0, beyondAll
		}
		return number, ""
	case int64:
		return float64(v), ""
	case float64:
		return v, ""
	}
	return 0, wrongKind(value)
}

// withStrictValues replaces the rule about values by a stricter one. The rule of gqlparser accepts
// an object for any scalar or enum, a list or an enum value for a custom scalar, and 64 bits for an
// Int.
func withStrictValues(all *rules.Rules) *rules.Rules {
	for _, rule := range []core.Rule{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions} {
		all.ReplaceRule(rule.Name, func(observers *core.Events, addError core.AddErrFunc) { // if it is used
			refused := false // the current value: observers are called one after the other
			observers.OnValue(func(_ *core.Walker, value *ast.Value) {
				problem := wrongLiteral(value)
				if refused = problem != ""; refused {
					addError(core.Message("%s cannot represent %s.", value.Definition.Name, problem), core.At(value.Position))
				}
			})
			rule.RuleFunc(observers, func(options ...core.ErrorOption) {
				if !refused {
					addError(options...)
				}
			})
		})
	}
	return all
}

// wrongLiteral returns the kind of a value in the text that its type does not accept, empty if it
// does. It finds errors that gqlparser misses.
func wrongLiteral(value *ast.Value) wrong {
	if value.Definition == nil {
		return "" // the type is unknown, which another rule reports
	}
	switch {
	case value.Definition.Name == anyScalar && value.Kind != ast.ListValue: // also one that stands for a list of one
		if !slices.Contains([]ast.ValueKind{ast.ObjectValue, ast.Variable, ast.NullValue}, value.Kind) {
			return outOfThese
		}
	case value.Kind == ast.ObjectValue && value.Definition.IsLeafType():
		return anObject
	case value.Kind == ast.ListValue && value.ExpectedType.Elem == nil:
		return aList
	case value.Kind == ast.EnumValue && value.Definition.Kind == ast.Scalar:
		return anEnum
	case value.Kind == ast.IntValue && value.Definition.Name == "Int":
		if _, err := strconv.ParseInt(value.Raw, 10, 32); err != nil {
			return beyond32
		}
	}
	return ""
}
