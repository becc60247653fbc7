package limits

import (
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkShape refuses parts of a document that are too long or too deep, whether they are used or
// not.
func (l Limits) checkShape(doc *ast.QueryDocument) *gqlerror.Error {
	for _, operation := range doc.Operations {
		if err := first(
			l.checkDefinitions(operation.VariableDefinitions),
			l.checkDirectives(operation.Directives),
			l.checkSelection(operation.SelectionSet),
		); err != nil {
			return err
		}
	}
	for _, fragment := range doc.Fragments {
		if err := first(
			l.checkDefinitions(fragment.VariableDefinition),
			l.checkDirectives(fragment.Directives),
			l.checkSelection(fragment.SelectionSet),
		); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) checkDefinitions(definitions ast.VariableDefinitionList) *gqlerror.Error {
	if err := atMost(TooManyVariables, len(definitions), l.Variables); err != nil {
		return err
	}
	for _, definition := range definitions {
		if err := first(
			l.checkType(definition.Type),
			l.checkDirectives(definition.Directives),
			l.checkValue(definition.DefaultValue, 0),
		); err != nil {
			return err
		}
	}
	return nil
}

// checkType bounds lists of lists. Coercion wraps a single value in each of them.
func (l Limits) checkType(t *ast.Type) *gqlerror.Error {
	depth := 0
	for ; t.Elem != nil; t = t.Elem {
		depth++
	}
	return atMost(ValueTooDeep, depth, l.ValueDepth)
}

func (l Limits) checkSelection(set ast.SelectionSet) *gqlerror.Error {
	if err := atMost(SelectionTooLong, len(set), l.SelectionFields); err != nil {
		return err
	}
	for _, selection := range set {
		var err *gqlerror.Error
		switch s := selection.(type) {
		case *ast.Field:
			err = first(l.checkArguments(s.Arguments), l.checkDirectives(s.Directives), l.checkSelection(s.SelectionSet))
		case *ast.InlineFragment:
			err = first(l.checkDirectives(s.Directives), l.checkSelection(s.SelectionSet))
		case *ast.FragmentSpread:
			err = l.checkDirectives(s.Directives)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) checkDirectives(directives ast.DirectiveList) *gqlerror.Error {
	if err := atMost(TooManyDirectives, len(directives), l.Directives); err != nil {
		return err
	}
	for _, directive := range directives {
		if err := l.checkArguments(directive.Arguments); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) checkArguments(arguments ast.ArgumentList) *gqlerror.Error {
	for _, argument := range arguments {
		if err := l.checkValue(argument.Value, 0); err != nil {
			return err
		}
	}
	return nil
}

func (l Limits) checkValue(value *ast.Value, depth int) *gqlerror.Error {
	if value == nil {
		return nil
	}
	if value.Kind != ast.ListValue && value.Kind != ast.ObjectValue {
		return checkNumber(value)
	}
	if err := first(
		atMost(ValueTooDeep, depth+1, l.ValueDepth),
		atMost(ListTooLong, len(value.Children), l.ListLength),
	); err != nil {
		return err
	}
	for _, child := range value.Children {
		if err := l.checkValue(child.Value, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkNumber refuses numbers that do not fit into 64 bits. Validation accepts them for a custom
// scalar, and reading the arguments would then fail like an internal error.
func checkNumber(value *ast.Value) *gqlerror.Error {
	if value.Kind != ast.IntValue && value.Kind != ast.FloatValue {
		return nil
	}
	if _, err := value.Value(nil); err == nil {
		return nil
	}
	err := gqlerror.ErrorPosf(value.Position, "the number %s is out of range: give one of at most 64 bits", value.Raw)
	errcode.Set(err, errcode.ValidationFailed)
	return err
}
