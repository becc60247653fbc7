package httpapi

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// coercionName is the name of the extension, under which it keeps errors with the operation.
const coercionName = "Coercion"

// coercion checks and converts the values of a request as the GraphQL specification says (section
// 6.1.2, and input coercion of each kind of type), before anything runs. gqlparser and gqlgen
// accept values that they should not ("5" for an Int, an enum in any case, an object for a scalar),
// and refuse some that they should accept (1.0 for an Int). So this extension validates documents
// and coerces the variables of each operation before gqlgen does, which then finds both done. It
// comes after the extensions that bound documents and variables.
//
// Errors name the variable, the type and the path to the value. Their location is the definition of
// the variable. They repeat numbers, booleans and short names of fields from the request, and
// nothing else: a value may be what a customer wrote.
type coercion struct {
	documents graphql.Cache[*ast.QueryDocument]
	rules     func() *rules.Rules

	schema *ast.Schema
}

var _ interface {
	graphql.HandlerExtension
	graphql.OperationParameterMutator
} = (*coercion)(nil)

// ExtensionName implements [graphql.HandlerExtension].
func (*coercion) ExtensionName() string { return coercionName }

// Validate implements [graphql.HandlerExtension].
func (e *coercion) Validate(schema graphql.ExecutableSchema) error {
	e.schema = schema.Schema()
	return nil
}

// MutateOperationParameters replaces the variables by their coerced values. It returns the first of
// several errors, and keeps the others for transport.run.
func (e *coercion) MutateOperationParameters(ctx context.Context, request *graphql.RawParams) *gqlerror.Error {
	operation, errs := e.operation(ctx, request)
	if operation != nil {
		request.Variables, errs = coerceVariables(e.schema, operation, request.Variables)
	}
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		errcode.Set(err, errcode.ValidationFailed)
	}
	graphql.GetOperationContext(ctx).Stats.SetExtension(coercionName, errs[1:])
	return errs[0]
}

// operation returns the operation that a request asks for. It validates an unknown document, so
// that the server need not. If it returns neither an operation nor errors, the server itself
// reports the error.
func (e *coercion) operation(ctx context.Context, request *graphql.RawParams) (*ast.OperationDefinition, gqlerror.List) {
	document, known := e.documents.Get(ctx, request.Query)
	if !known {
		parsed, err := parser.ParseQuery(&ast.Source{Input: request.Query})
		if err != nil || len(parsed.Operations) == 0 {
			return nil, nil //nolint:nilerror // the server parses it again and says so itself
		}
		if errs := validator.ValidateWithRules(e.schema, parsed, e.rules()); len(errs) > 0 {
			return nil, errs
		}
		// Several operations may share a fragment. gqlparser keeps the definitions of variables of one,
		// and would use its default for a variable that another operation lacks. coerceVariables adds all
		// defaults itself.
		//
		// What a document says stays in memory for longer than the document, such as the id of a product
		// in a cache. As a part of the request's text it would keep all of that.
		var events validator.Events
		events.OnValue(func(_ *validator.Walker, value *ast.Value) {
			value.VariableDefinition, value.Raw = nil, strings.Clone(value.Raw)
		})
		// With a default, a variable that may be null is valid as the condition of @skip and @include,
		// but execution cannot handle a null. So the variables of directives become non-null.
		events.OnDirective(func(w *validator.Walker, directive *ast.Directive) {
			if w.CurrentOperation == nil {
				return // of a fragment, which is also walked with each operation that spreads it
			}
			for _, argument := range directive.Arguments {
				if v := w.CurrentOperation.VariableDefinitions.ForName(argument.Value.Raw); v != nil && argument.Value.Kind == ast.Variable {
					nonNull := *v.Type
					nonNull.NonNull = true
					v.Type = &nonNull
				}
			}
		})
		validator.Walk(e.schema, parsed, &events)
		e.documents.Add(ctx, request.Query, parsed)
		document = parsed
	}
	return document.Operations.ForName(request.OperationName), nil
}
