package limits

import (
	"math"
	"strings"

	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"github.com/talkback/talkback/graph/lookahead"
)

// averages returns the average lengths of the lists in introspection. The longest list of each kind
// would multiply to many times the size of any answer.
func averages(schema *ast.Schema) map[*ast.FieldDefinition]float64 {
	var fields, inputs, arguments, values, interfaces, possible, of float64
	for _, t := range schema.Types {
		of++
		if t.Kind == ast.InputObject {
			inputs += float64(len(t.Fields))
		} else {
			fields += float64(len(t.Fields))
		}
		for _, field := range t.Fields {
			arguments += float64(len(field.Arguments))
		}
		values += float64(len(t.EnumValues))
		interfaces += float64(len(t.Interfaces))
		if t.IsAbstractType() {
			possible += float64(len(schema.GetPossibleTypes(t)))
		}
	}
	mean := func(sum, of float64) float64 { return max(1, math.Ceil(sum/of)) }
	field := func(of, name string) *ast.FieldDefinition { return schema.Types[of].Fields.ForName(name) }
	return map[*ast.FieldDefinition]float64{
		field("__Schema", "types"):       of,
		field("__Schema", "directives"):  float64(len(schema.Directives)),
		field("__Type", "fields"):        mean(fields, of),
		field("__Type", "inputFields"):   mean(inputs, of),
		field("__Type", "enumValues"):    mean(values, of),
		field("__Type", "interfaces"):    mean(interfaces, of),
		field("__Type", "possibleTypes"): mean(possible, of),
		field("__Field", "args"):         mean(arguments, fields),
		field("__Directive", "args"):     1,
	}
}

// asksSchema reports whether a field is introspection, or asks a subgraph for its schema.
func asksSchema(field *ast.Field) bool {
	return field.Name == "__schema" || field.Name == "__type" || field.Name == "_service"
}

// checkIntrospection refuses introspection among the root fields of an operation.
func checkIntrospection(fields []lookahead.Field) *gqlerror.Error {
	for i := range fields {
		if f := fields[i].Field; asksSchema(f) {
			err := gqlerror.ErrorPosf(f.Position, "this server does not answer %s: its schema is in its repository, in schema.graphqls", f.Name)
			errcode.Set(err, string(IntrospectionIsOff))
			return err
		}
	}
	return nil
}

// quietRules are the rules that exist with and without suggestions.
var quietRules = []core.Rule{
	rules.FieldsOnCorrectTypeRuleWithoutSuggestions,
	rules.ScalarLeafsRuleWithoutSuggestions,
	rules.KnownArgumentNamesRuleWithoutSuggestions,
	rules.KnownTypeNamesRuleWithoutSuggestions,
	rules.ValuesOfCorrectTypeRuleWithoutSuggestions,
}

// RulesWithoutSuggestions returns validation rules that name nothing of the schema that the client
// did not name first. A "did you mean" would reveal, name by name, the schema that turning
// introspection off hides.
func RulesWithoutSuggestions() *rules.Rules {
	all := rules.NewDefaultRules()
	for _, quiet := range quietRules {
		all.RemoveRule(strings.TrimSuffix(quiet.Name, "WithoutSuggestions"))
		all.AddRule(quiet.Name, quiet.RuleFunc)
	}
	return all
}
