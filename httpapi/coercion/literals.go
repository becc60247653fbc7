package coercion

import (
	"slices"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// ValidationRules completes the rule about values among some rules. The rule of gqlparser accepts
// an object for any scalar or enum, a list or an enum value for a custom scalar, and 64 bits for an
// Int.
func ValidationRules(all *rules.Rules) *rules.Rules {
	for _, rule := range []core.Rule{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions} {
		if _, used := all.GetInner()[rule.Name]; used {
			all.ReplaceRule(rule.Name, complete(rule.RuleFunc))
		}
	}
	return all
}

// complete returns a rule about values that consults the given one only for what this package
// accepts.
func complete(rule core.RuleFunc) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		refused := false // the current value: observers are called one after the other
		observers.OnValue(func(_ *core.Walker, value *ast.Value) {
			problem := wrongLiteral(value)
			if refused = problem != ""; refused {
				addError(core.Message("%s cannot represent %s.", value.Definition.Name, problem), core.At(value.Position))
			}
		})
		rule(observers, func(options ...core.ErrorOption) {
			if !refused {
				addError(options...)
			}
		})
	}
}

// wrongLiteral returns what is wrong with a value in the text, of the errors that gqlparser does
// not find.
func wrongLiteral(value *ast.Value) wrong {
	if value.Definition == nil || value.ExpectedType == nil {
		return "" // the type is unknown, which another rule reports
	}
	leaf := value.Definition.Kind == ast.Scalar || value.Definition.Kind == ast.Enum
	own := value.Definition.Kind == ast.Scalar && (!value.Definition.BuiltIn || value.Definition.Name == anything)
	switch {
	case value.Definition.Name == anything && value.Kind != ast.ListValue: // also one that stands for a list of one
		if !slices.Contains([]ast.ValueKind{ast.ObjectValue, ast.Variable, ast.NullValue}, value.Kind) {
			return outOfThese
		}
	case value.Kind == ast.ObjectValue && leaf && value.Definition.Name != anything:
		return anObject
	case value.Kind == ast.ListValue && own && value.ExpectedType.Elem == nil:
		return aList
	case value.Kind == ast.EnumValue && own:
		return anEnum
	case value.Kind == ast.IntValue && value.Definition.Name == "Int":
		if _, err := strconv.ParseInt(value.Raw, 10, 32); err != nil {
			return beyond32
		}
	}
	return ""
}
