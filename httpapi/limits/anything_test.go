package limits_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"pgregory.net/rapid"

	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// place is a field whose arguments are tested: its definition, and the text around it.
type place struct {
	before, after string
	field         *ast.FieldDefinition
}

// places returns all fields of the API that take arguments, and some of introspection.
func places(schema *ast.Schema) []place {
	var all []place
	add := func(of *ast.Definition, before, after string) {
		for _, field := range of.Fields {
			if len(field.Arguments) > 0 {
				inside := after
				if schema.Types[field.Type.Name()].IsCompositeType() {
					inside = "{__typename}" + after
				}
				all = append(all, place{before, inside, field})
			}
		}
	}
	add(schema.Query, "{", "}")
	add(schema.Mutation, "mutation{", "}")
	add(schema.Types["Product"], `{product(id:"x"){`, "}}")
	add(schema.Types["__Type"], `{__type(name:"Query"){`, "}}")
	return all
}

// sender generates what clients may send: mostly valid values of a type, now and then anything
// else.
type sender struct {
	*rapid.T
	schema *ast.Schema
}

// value returns decoded JSON for a type.
func (s sender) value(t *ast.Type, depth int) any {
	switch odd := s.oneIn(6); {
	case odd || depth > 4:
		return rapid.SampledFrom([]any{
			nil, true, 0, -1, 1.5, 1e300, json.Number("1.0"), json.Number("99999999999999999999"), "", "5", "\x00", "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ", "true",
			[]any{}, []any{nil}, []any{[]any{1}}, map[string]any{}, map[string]any{"id": map[string]any{}}, map[string]any{"ratings": "x"},
		}).Draw(s.T, "odd")
	case t.Elem != nil:
		elements := make([]any, rapid.IntRange(0, 3).Draw(s.T, "length"))
		for i := range elements {
			elements[i] = s.value(t.Elem, depth+1)
		}
		return elements
	}
	switch definition := s.schema.Types[t.NamedType]; definition.Kind {
	case ast.InputObject:
		object := map[string]any{}
		for _, field := range definition.Fields {
			if field.Type.NonNull || s.oneIn(2) {
				object[field.Name] = s.value(field.Type, depth+1)
			}
		}
		return object
	case ast.Enum:
		return definition.EnumValues[0].Name
	default:
		return map[string]any{"Int": 3, "Float": 1.5, "Boolean": true, "DateTime": "2024-05-01T00:00:00Z", "Language": "en", "String": "en", "ID": "c_01HWSAVBG0ZZZZZZZZZZZZZZZZ"}[t.NamedType]
	}
}

func (s sender) oneIn(n int) bool { return rapid.IntRange(1, n).Draw(s.T, "one in") == 1 }

// literal returns a value as part of a query. The name of an enum usually has no quotes.
func (s sender) literal(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = s.literal(v[i])
		}
		return "[" + strings.Join(parts, " ") + "]"
	case map[string]any:
		var parts []string
		for name, inside := range v {
			parts = append(parts, name+":"+s.literal(inside))
		}
		return "{" + strings.Join(parts, " ") + "}"
	case string:
		if strings.HasSuffix(v, "_FIRST") && !s.oneIn(4) {
			return v
		}
	}
	return string(must.Get(json.Marshal(value))(s))
}

// operation returns an operation that gives a field any arguments, in the text and by variables,
// with defaults and without.
func (s sender) operation(p place) (query string, variables map[string]any) {
	variables = map[string]any{}
	var declared, arguments []string
	for _, argument := range p.field.Arguments {
		if !argument.Type.NonNull && s.oneIn(2) {
			continue
		}
		given := s.literal(s.value(argument.Type, 0))
		if s.oneIn(2) {
			variable := fmt.Sprint("v", len(declared))
			given = "$" + variable
			declaration := given + ":" + argument.Type.String()
			if s.oneIn(4) {
				declaration += "=" + s.literal(s.value(argument.Type, 0))
			}
			declared = append(declared, declaration)
			if !s.oneIn(4) {
				variables[variable] = s.value(argument.Type, 0)
			}
		}
		arguments = append(arguments, argument.Name+":"+given)
	}
	before := p.before
	if len(declared) > 0 {
		before = strings.Replace("query"+strings.TrimPrefix(before, "query"), "querymutation", "mutation", 1)
		before = strings.Replace(before, "{", "("+strings.Join(declared, " ")+"){", 1)
	}
	list := ""
	if len(arguments) > 0 {
		list = "(" + strings.Join(arguments, " ") + ")"
	}
	return before + p.field.Name + list + p.after, variables
}

// Any argument that a client sends, in the text or as a variable, is served or refused. None causes
// an internal error, and many are served.
func TestAnyArgument(t *testing.T) {
	handler := newServer(&shop{text: "x"}, nil)
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	all := places(schema)
	asked, served := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		query, variables := sender{t, schema}.operation(rapid.SampledFrom(all).Draw(t, "place"))
		body := must.Get(json.Marshal(map[string]any{"query": query, "variables": variables}))(t)
		status, raw := post(handler, body)
		got := checked(t, body, status, raw)
		if asked++; got.code() == "" || got.code() == "FORBIDDEN" {
			served++
		}
	})
	if served < asked/10 {
		t.Errorf("only %d of %d are served: this says little", served, asked)
	}
}

// checked decodes an answer to a body. Nothing that a client sends may become a fault of ours.
func checked(t rapid.TB, body []byte, status int, raw []byte) (got answer) {
	t.Helper()
	if err := json.Unmarshal(raw, &got); err != nil || status >= http.StatusInternalServerError {
		t.Fatalf("%d %v: %.300s", status, err, raw)
	}
	for _, err := range got.Errors {
		if err.Extensions.Code == "INTERNAL" || err.Extensions.Code == "" {
			t.Errorf("%.300s\nis answered %.300s", body, raw)
		}
	}
	return got
}

// FuzzRequest sends any body. The answer is JSON, and never an internal error. The corpus in
// testdata has bodies that once caused one.
func FuzzRequest(f *testing.F) {
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	for _, a := range attacks(f) {
		if len(a.body) < 2000 {
			f.Add(a.body)
		}
	}
	paths, err := filepath.Glob("../../web/explorer/examples/*.graphql")
	if err != nil || len(paths) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, path := range paths {
		query := must.Get(os.ReadFile(path))(f)
		f.Add(envelope(f, string(query), nil))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		status, raw := post(handler, body)
		checked(t, body, status, raw)
	})
}

// FuzzQuery does the same with the text of a query, which mutates better without JSON around it.
func FuzzQuery(f *testing.F) {
	handler := newServer(&shop{text: "Ni plus ni moins."}, nil)
	for _, a := range attacks(f) {
		var body struct{ Query string }
		if json.Unmarshal(a.body, &body) == nil && len(body.Query) < 1000 {
			f.Add(body.Query, `{"a":null,"f":{"ratings":[1]},"n":1}`)
		}
	}
	f.Fuzz(func(t *testing.T, query, variables string) {
		if !json.Valid([]byte(variables)) {
			variables = "null"
		}
		body, start := envelope(t, query, json.RawMessage(variables)), processorTime(t)
		status, raw := post(handler, body)
		if took := processorTime(t) - start; took > patience {
			t.Errorf("it took %v", took)
		}
		checked(t, body, status, raw)
	})
}
