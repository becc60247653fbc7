package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"
	"github.com/vektah/gqlparser/v2/validator/rules"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

var valuesSchema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	scalar Moment
	enum Order { NEWEST OLDEST }
	input Author { id: ID!, name: String! = "nobody" }
	input Draft { language: String!, rating: Int, tags: [String!], author: Author, order: Order, at: Moment, inner: Draft }
	type Query { f(int: Int, float: Float, id: ID, text: String, flag: Boolean, order: Order, at: Moment, draft: Draft, list: [Int!], lists: [[Int]], drafts: [Draft!], thing: _Any): Int }
	scalar _Any`})

// declaring returns an operation that declares the variable $v, of a type with or without a
// default.
func declaring(t testing.TB, declared string) *ast.OperationDefinition {
	t.Helper()
	argument := map[string]string{
		"Int": "int", "Float": "float", "ID": "id", "String": "text", "Boolean": "flag", "Order": "order", "Moment": "at", "_Any": "thing",
		"Draft": "draft", "[Int!]": "list", "[[Int]]": "lists", "[Draft!]": "drafts",
	}[strings.TrimSuffix(strings.TrimSpace(strings.SplitN(declared, "=", 2)[0]), "!")]
	document, err := gqlparser.LoadQueryWithRules(valuesSchema, "\nquery ($v: "+declared+") { f("+argument+": $v) }", withStrictValues(rules.NewDefaultRules()))
	if err != nil {
		t.Fatalf("%s: %v", declared, err)
	}
	return document.Operations[0]
}

// decodeVariables reads JSON as the transport does.
func decodeVariables(t testing.TB, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader([]byte(text)))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out
}

func TestVariables(t *testing.T) {
	for _, test := range []struct {
		declared, sent string
		want           any
		reason         string
	}{
		{"Int", `{"v": 5}`, int64(5), "a number"},
		{"Int", `{"v": 1.0}`, int64(1), "a whole number, as some languages write it"},
		{"Int", `{"v": 1e2}`, int64(100), "likewise"},
		{"Int", `{"v": -0}`, int64(0), "zero"},
		{"Int", `{"v": -2147483648}`, int64(-2147483648), "the lowest"},
		{"Int", `{"v": 2147483647}`, int64(2147483647), "the highest"},
		{"Int", `{"v": null}`, nil, "nothing"},
		{"Int = 7", `{}`, int64(7), "the default"},
		{"Int = 7", `{"v": null}`, nil, "an explicit null is no default"},
		{"Int! = 7", `{}`, int64(7), "a default makes it optional"},
		{"Float", `{"v": -1.5e3}`, -1500.0, "a number"},
		{"ID", `{"v": "a"}`, "a", "a string"},
		{"ID", `{"v": 5}`, "5", "a database's number"},
		{"ID", `{"v": 5.0}`, "5", "likewise"},
		{"ID", `{"v": -9007199254740993}`, "-9007199254740993", "with all of its digits"},
		{"ID", `{"v": 9007199254740991.0}`, "9007199254740991", "the highest without all of its digits"},
		{"ID", `{"v": -9007199254740991.0}`, "-9007199254740991", "the lowest"},
		{
			"_Any", `{"v": {"id": 100.0, "key": -0, "far": 99999999999999999999}}`,
			map[string]any{"id": "100", "key": json.Number("-0"), "far": json.Number("99999999999999999999")}, "the id of a representation is an ID",
		},
		{"_Any", `{"v": {"id": 1.5}}`, map[string]any{"id": json.Number("1.5")}, "the field reports it"},
		{"_Any", `{"v": {}}`, map[string]any{}, "likewise"},
		{"ID = 5", `{}`, "5", "a default is read as well"},
		{"Float = 1.5", `{}`, 1.5, "likewise"},
		{"String", `{"v": "5"}`, "5", "a string"},
		{"Boolean", `{"v": false}`, false, "a boolean"},
		{"Order", `{"v": "OLDEST"}`, "OLDEST", "a name"},
		{"Order = OLDEST", `{}`, "OLDEST", "a name in the text"},
		{"Moment", `{"v": "tomorrow"}`, "tomorrow", "the scalar decides"},
		{"Moment", `{"v": 12345678901234567890}`, json.Number("12345678901234567890"), "with all of its digits"},
		{"Moment", `{"v": true}`, true, "the scalar decides"},
		{"Moment = 5", `{}`, int64(5), "a default of a scalar"},
		{"Moment = 1.5", `{}`, 1.5, "likewise"},
		{"[Int!]", `{"v": [1, 2.0]}`, []any{int64(1), int64(2)}, "a list"},
		{"[Int!]", `{"v": 1}`, []any{int64(1)}, "one is a list of one"},
		{"[Int!]", `{"v": []}`, []any{}, "an empty list"},
		{"[[Int]]", `{"v": 1}`, []any{[]any{int64(1)}}, "likewise, twice"},
		{"[[Int]]", `{"v": [1, [2], null]}`, []any{[]any{int64(1)}, []any{int64(2)}, nil}, "each element by itself"},
		{"Draft", `{"v": {"language": "en"}}`, map[string]any{"language": "en"}, "a field that is left out stays absent"},
		{"Draft", `{"v": {"language": "en", "rating": null, "tags": "a", "author": {"id": 1}}}`, map[string]any{"language": "en", "rating": nil, "tags": []any{"a"}, "author": map[string]any{"id": "1"}}, "inside too"},
		{"Draft = {language: \"en\", rating: 3}", `{}`, map[string]any{"language": "en", "rating": int64(3)}, "a default that is an object"},
		{"Int", `{"v": 1, "other": {"a": [1]}}`, int64(1), "undeclared variables are ignored"},
	} {
		got, errs := coerceVariables(valuesSchema, declaring(t, test.declared), decodeVariables(t, test.sent))
		if diff := cmp.Diff(map[string]any{"v": test.want}, got); diff != "" || len(errs) > 0 {
			t.Errorf("%s of %s (%s): %v %s", test.sent, test.declared, test.reason, errs, diff)
		}
	}
	if got, errs := coerceVariables(valuesSchema, declaring(t, "Int"), nil); len(got) > 0 || len(errs) > 0 {
		t.Errorf("an optional variable that is left out is %v, %v; want it absent", got, errs)
	}
}

func TestWrongVariables(t *testing.T) {
	for _, test := range []struct{ declared, sent, want string }{
		{"Int!", `{}`, `Variable "$v" of required type "Int!" was not provided.`},
		{"Int!", `{"v": null}`, `Variable "$v" of non-null type "Int!" must not be null.`},
		{"Int", `{"v": "5"}`, `Variable "$v" got invalid value: Int cannot represent a string.`},
		{"Int", `{"v": 1.5}`, `Variable "$v" got invalid value 1.5: Int cannot represent a fraction.`},
		{"Int", `{"v": 2147483648}`, `Variable "$v" got invalid value 2147483648: Int cannot represent a number beyond 32 bits.`},
		{"Int", `{"v": -2147483649}`, `Variable "$v" got invalid value -2147483649: Int cannot represent a number beyond 32 bits.`},
		{"Int", `{"v": 1e999999999}`, `Variable "$v" got invalid value 1e999999999: Int cannot represent a number beyond 32 bits.`},
		{"Int", `{"v": true}`, `Variable "$v" got invalid value true: Int cannot represent a boolean.`},
		{"Int", `{"v": {}}`, `Variable "$v" got invalid value: Int cannot represent an object.`},
		{"Int", `{"v": [1]}`, `Variable "$v" got invalid value: Int cannot represent a list.`},
		{"Float", `{"v": 1e999}`, `Variable "$v" got invalid value 1e999: Float cannot represent a number beyond 64 bits.`},
		{"ID", `{"v": 1.5}`, `Variable "$v" got invalid value 1.5: ID cannot represent a fraction.`},
		{"ID", `{"v": 99999999999999999999}`, `Variable "$v" got invalid value 99999999999999999999: ID cannot represent a number beyond 64 bits: send it as a string.`},
		{"ID", `{"v": 9007199254740993.0}`, `Variable "$v" got invalid value 9007199254740993.0: ID cannot represent a number beyond 64 bits: send it as a string.`},
		{"ID", `{"v": -9007199254740993.0}`, `Variable "$v" got invalid value -9007199254740993.0: ID cannot represent a number beyond 64 bits: send it as a string.`},
		{"ID", `{"v": 1e999}`, `Variable "$v" got invalid value 1e999: ID cannot represent a number beyond 64 bits: send it as a string.`},
		{"ID", `{"v": false}`, `Variable "$v" got invalid value false: ID cannot represent a boolean.`},
		{"String", `{"v": 1}`, `Variable "$v" got invalid value 1: String cannot represent a number.`},
		{"Boolean", `{"v": "true"}`, `Variable "$v" got invalid value: Boolean cannot represent a string.`},
		{"Order", `{"v": "oldest"}`, `Variable "$v" got invalid value: Order cannot represent a string that is none of its values.`},
		{"Order", `{"v": 1}`, `Variable "$v" got invalid value 1: Order cannot represent a number.`},
		{"Moment", `{"v": {"a": 1}}`, `Variable "$v" got invalid value: Moment cannot represent an object.`},
		{"Moment = 99999999999999999999", `{}`, `Variable "$v" has a default value that is beyond any type.`},
		{"[Int!]", `{"v": [1, null, "x"]}`, `Variable "$v" got invalid value at "v[1]": expected type "Int!" not to be null.|Variable "$v" got invalid value at "v[2]": Int cannot represent a string.`},
		{"Draft", `{"v": {}}`, `Variable "$v" got invalid value: field "language" of type "String!" is required.`},
		{"Draft", `{"v": "x"}`, `Variable "$v" got invalid value: expected type "Draft" to be an object, not a string.`},
		{"Draft", `{"v": []}`, `Variable "$v" got invalid value: expected type "Draft" to be an object, not a list.`},
		{"Draft", `{"v": {"language": null}}`, `Variable "$v" got invalid value at "v.language": expected type "String!" not to be null.`},
		{"Draft", `{"v": {"language": "en", "author": {}}}`, `Variable "$v" got invalid value at "v.author": field "id" of type "ID!" is required.`},
		{"Draft", `{"v": {"language": "en", "colour": 1, "__typename": "Draft"}}`, `Variable "$v" got invalid value: field "__typename" is not defined by type "Draft".|Variable "$v" got invalid value: field "colour" is not defined by type "Draft".`},
		{"Draft", `{"v": {"language": "en", "I love it": 1}}`, `Variable "$v" got invalid value: a field with a name that is too long or no name is not defined by type "Draft".`},
		{"Draft", `{"v": {"language": "en", "tags": 5}}`, `Variable "$v" got invalid value 5 at "v.tags": String cannot represent a number.`},
		{"Draft", `{"v": {"language": "en", "a1` + strings.Repeat("b", 38) + `": 1}}`, `Variable "$v" got invalid value: field "a1` + strings.Repeat("b", 38) + `" is not defined by type "Draft".`},
		{"Draft", `{"v": {"language": "en", "a1` + strings.Repeat("b", 39) + `": 1}}`, `Variable "$v" got invalid value: a field with a name that is too long or no name is not defined by type "Draft".`},
		{"String", `{"v": ` + strings.Repeat("1", 40) + `}`, `Variable "$v" got invalid value ` + strings.Repeat("1", 40) + `: String cannot represent a number.`},
		{"String", `{"v": ` + strings.Repeat("1", 41) + `}`, `Variable "$v" got invalid value: String cannot represent a number.`},
		{"[Draft!]", `{"v": [{"language": "en"}, {"language": "en", "tags": ["a", 2]}]}`, `Variable "$v" got invalid value 2 at "v[1].tags[1]": String cannot represent a number.`},
	} {
		values, errs := coerceVariables(valuesSchema, declaring(t, test.declared), decodeVariables(t, test.sent))
		var said []string
		for _, err := range errs {
			said = append(said, err.Message)
			if len(err.Locations) != 1 || err.Locations[0].Line != 2 || err.Locations[0].Column != 8 {
				t.Errorf("%s of %s: it stands at %v, want where the variable is defined", test.sent, test.declared, err.Locations)
			}
		}
		if got := strings.Join(said, "|"); got != test.want || values != nil {
			t.Errorf("%s of %s:\n got %s\nwant %s", test.sent, test.declared, got, test.want)
		}
	}
}

// gqlparser accepts all values that are accepted here. Other values give at most 50 short errors,
// which do not repeat the texts that were sent.
func TestAnyVariables(t *testing.T) {
	types := []string{"Int", "Float!", "ID", "String!", "Boolean", "Order", "Moment", "Draft", "[Int!]", "[[Int]]!", "[Draft!]"}
	operations := map[string]*ast.OperationDefinition{}
	for _, declared := range types {
		operations[declared] = declaring(t, declared)
	}
	fields := []string{"language", "rating", "tags", "author", "order", "at", "inner", "id", "name", "secret"}
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		scalars := rapid.SampledFrom([]any{
			nil, true, json.Number("1"), json.Number("2.0"), json.Number("1.5"), json.Number("-1e400"), json.Number("99999999999"), "secret", "NEWEST", "",
		})
		if depth == 0 {
			return scalars
		}
		inner := value(depth - 1)
		return rapid.OneOf(scalars,
			rapid.Map(rapid.SliceOfN(inner, 0, 9), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(rapid.SampledFrom(fields), inner, 0, 7), func(v map[string]any) any { return v }))
	}
	rapid.Check(t, func(t *rapid.T) {
		declared := rapid.SampledFrom(types).Draw(t, "type")
		values, errs := coerceVariables(valuesSchema, operations[declared], map[string]any{"v": value(4).Draw(t, "value")})
		if len(errs) > 50 {
			t.Errorf("%d errors", len(errs))
		}
		for _, err := range errs {
			if said := strings.ReplaceAll(err.Message, `field "secret"`, ""); strings.Contains(said, "secret") || len(said) > 300 {
				t.Errorf("an error says too much: %s", said)
			}
		}
		if len(errs) > 0 {
			return
		}
		before := fmt.Sprint(values)
		if _, err := validator.VariableValues(valuesSchema, operations[declared], values); err != nil || fmt.Sprint(values) != before {
			t.Errorf("gqlparser makes of %s: %v, %v", before, values, err)
		}
	})
}

// Of many wrong variables, the errors name the first.
func TestManyWrongVariables(t *testing.T) {
	declared := *declaring(t, "Int!")
	declared.VariableDefinitions = slices.Repeat(declared.VariableDefinitions, 1000)
	for why, sent := range map[string]map[string]any{"missing": nil, "null": {"v": nil}, "wrong": {"v": "x"}} {
		if values, errs := coerceVariables(valuesSchema, &declared, sent); values != nil || len(errs) != 50 {
			t.Errorf("%s: %d errors, want the first 50", why, len(errs))
		}
	}
	fields := map[string]any{"language": "en"}
	for i := range 1000 {
		fields[fmt.Sprint("unknown", i)] = 1
	}
	if values, errs := coerceVariables(valuesSchema, declaring(t, "Draft"), map[string]any{"v": fields}); values != nil || len(errs) != 50 {
		t.Errorf("unknown fields: %d errors, want the first 50", len(errs))
	}
	if values, errs := coerceVariables(valuesSchema, declaring(t, "[Int!]"), map[string]any{"v": make([]any, 1000)}); values != nil || len(errs) != 50 {
		t.Errorf("elements: %d errors, want the first 50", len(errs))
	}
}

// Literals have to match their types, in every position.
func TestLiterals(t *testing.T) {
	for _, test := range []struct{ query, want string }{
		{`{ f(int: {}) }`, `Int cannot represent an object.`},
		{`{ f(order: {}) }`, `Order cannot represent an object.`},
		{`{ f(at: {}) }`, `Moment cannot represent an object.`},
		{`{ f(at: []) }`, `Moment cannot represent a list.`},
		{`{ f(at: noon) }`, `Moment cannot represent an enum value.`},
		{`{ f(at: "noon") }`, ``},
		{`{ f(at: 12) }`, ``},
		{`{ f(list: {}) }`, `Int cannot represent an object.`},
		{`{ f(list: [1, {}]) }`, `Int cannot represent an object.`},
		{`{ f(draft: {language: "en", author: {id: {}}}) }`, `ID cannot represent an object.`},
		{`{ f(drafts: [{language: "en", order: {}}]) }`, `Order cannot represent an object.`},
		{`query ($v: Int = {}) { f(int: $v) }`, `Int cannot represent an object.`},
		{`query ($v: Draft = {language: {}}) { f(draft: $v) }`, `String cannot represent an object.`},
		{`{ f @include(if: {}) }`, `Boolean cannot represent an object.`},
		{`{ __type(name: {}) { name } }`, `String cannot represent an object.`},
		{`{ f(int: 2147483647) }`, ``},
		{`{ f(int: 2147483648) }`, `Int cannot represent a number beyond 32 bits.`},
		{`{ f(int: 1.0) }`, `Int cannot represent non-integer value: 1.0`},
		{`{ f(id: 2147483648, float: 2147483648) }`, ``},
		{`{ f(thing: null) }`, ``},
		{`{ f(thing: {a: 1}) }`, ``},
		{`{ f(thing: []) }`, `_Any cannot represent a list.`},
		{`{ f(text: noon) }`, `String cannot represent an enum value.`},
		{`query ($v: Nope = 5) { f(int: $v) }`, `Unknown type "Nope".|Variable "$v" of type "Nope" used in position expecting type "Int".`},
		{`{ f(draft: []) }`, `Draft cannot represent a list.`},
		{`{ f(nope: 5) }`, `Unknown argument "nope" on field "Query.f".`},
		{`{ f(draft: "x") }`, `Expected value of type "Draft", found "x".`},
	} {
		for name, all := range map[string]*rules.Rules{"": rules.NewDefaultRules(), " without suggestions": quietRules()} {
			_, errs := gqlparser.LoadQueryWithRules(valuesSchema, test.query, withStrictValues(all))
			var said []string
			for _, err := range errs {
				said = append(said, err.Message)
			}
			if got := strings.Join(said, "|"); got != test.want {
				t.Errorf("%s%s: %s, want %s", test.query, name, got, test.want)
			}
		}
	}
}

// quietRules returns rules, with the one about values making no suggestions.
func quietRules() *rules.Rules {
	all := rules.NewDefaultRules()
	all.RemoveRule(rules.ValuesOfCorrectTypeRule.Name)
	all.AddRule(rules.ValuesOfCorrectTypeRuleWithoutSuggestions.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return all
}

// A document that clients repeat is parsed and validated once.
func TestDocumentIsValidatedOnce(t *testing.T) {
	validated := 0
	e := coercion{documents: graphql.MapCache[*ast.QueryDocument]{}, rules: func() *rules.Rules {
		validated++
		return rules.NewDefaultRules()
	}}
	must.Do(t, e.Validate(&graphql.ExecutableSchemaMock{SchemaFunc: func() *ast.Schema { return valuesSchema }}))
	for range 2 {
		if err := e.MutateOperationParameters(t.Context(), &graphql.RawParams{Query: "{ f }"}); err != nil {
			t.Error(err)
		}
	}
	if validated != 1 {
		t.Errorf("it was validated %d times", validated)
	}
}

// valuesExecutable is the schema of a server that executes nothing.
type valuesExecutable struct{ graphql.ExecutableSchema }

func (valuesExecutable) Schema() *ast.Schema { return valuesSchema }

// A value of a document outlives it, such as the id of a product in a cache. It keeps nothing else
// of the request in memory: 10,000 ids would keep as many texts.
func TestValuesOutliveTheirDocuments(t *testing.T) {
	const texts, size = 32, 1 << 20
	before := commenttest.Heap()
	var values []string
	for i := range texts {
		documents := graphql.MapCache[*ast.QueryDocument]{}
		e := &coercion{documents: documents, rules: func() *rules.Rules { return withStrictValues(rules.NewDefaultRules()) }}
		must.Do(t, e.Validate(valuesExecutable{}))
		request := &graphql.RawParams{Query: `query ($v: ID = "default ` + strconv.Itoa(i) + `") { f(id: $v, text: "literal", draft: {language: "nested"}) } #` + strings.Repeat("x", size)}
		if err := e.MutateOperationParameters(t.Context(), request); err != nil {
			t.Fatal(err)
		}
		values = append(values, request.Variables["v"].(string))
		for _, argument := range documents[request.Query].Operations[0].SelectionSet[0].(*ast.Field).Arguments[1:] {
			values = append(values, argument.Value.Raw)
			for _, child := range argument.Value.Children {
				values = append(values, child.Value.Raw)
			}
		}
	}
	grown := commenttest.Heap() - before
	if len(values) != 4*texts || grown > texts*size/4 {
		t.Errorf("%d values keep %d bytes in memory", len(values), grown)
	}
	runtime.KeepAlive(values)
}
