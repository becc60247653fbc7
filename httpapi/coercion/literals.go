package coercion

import (
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// ValidationRules are rules with the one about values made complete. gqlparser's lets pass an object for any scalar or enum,
// a list or an enum value for a scalar of the schema's own, and 64 bits for an Int.
func ValidationRules(all *rules.Rules) *rules.Rules {
	for _, rule := range []core.Rule{rules.ValuesOfCorrectTypeRule, rules.ValuesOfCorrectTypeRuleWithoutSuggestions} {
		if _, used := all.GetInner()[rule.Name]; used {
			all.ReplaceRule(rule.Name, complete(rule.RuleFunc))
		}
	}
	return all
}

// complete is a rule about values that is asked only about what this package lets pass.
func complete(rule core.RuleFunc) core.RuleFunc {
	return func(observers *core.Events, addError core.AddErrFunc) {
		refused := false // the value that is looked at: observers are called one after the other
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

// wrongLiteral is what a value in the text is instead of what its type takes, of what gqlparser does not see.
func wrongLiteral(value *ast.Value) wrong {
	if value.Definition == nil || value.ExpectedType == nil {
		return "" // what it is for is not known: another rule says so
	}
	leaf := value.Definition.Kind == ast.Scalar || value.Definition.Kind == ast.Enum
	own := value.Definition.Kind == ast.Scalar && !value.Definition.BuiltIn
	switch {
	case value.Kind == ast.ObjectValue && leaf:
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
