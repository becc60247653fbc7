package direct

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/graph"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// Every entry of the tables has the arguments and the type of the schema. A field whose argument or
// null the tables do not know would be answered wrongly.
func TestTablesMatchTheSchema(t *testing.T) {
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	checked := checkObject(t, schema, connections) + checkObject(t, schema, edges) + checkObject(t, schema, comments) + checkObject(t, schema, authors) +
		checkObject(t, schema, pageInfos) + checkObject(t, schema, counts) + checkObject(t, schema, ratings) +
		checkObject(t, schema, languages) + checkObject(t, schema, products) + checkObject(t, schema, viewers) + checkObject(t, schema, replies) + checkObject(t, schema, media) + checkObject(t, schema, votes)
	if written := objectsInSource(t); checked != written {
		t.Errorf("the package has %d objects, of which %d are checked here", written, checked)
	}
}

// checkObject compares one object with the schema. It returns 1, to count the checked objects.
func checkObject[T any](t *testing.T, schema *ast.Schema, o *object[T]) int {
	t.Helper()
	definition := schema.Types[o.name()]
	if definition == nil {
		t.Errorf("the schema has no type %s", o.name())
		return 1
	}
	want := []string{definition.Name}
	for _, of := range schema.GetImplements(definition) {
		want = append(want, of.Name)
	}
	if !slices.Equal(o.types, want) {
		t.Errorf("%s: fragments on %v apply, want %v", o.name(), o.types, want)
	}
	for name, field := range o.fields {
		checkField(t, definition, name, field)
	}
	return 1
}

func checkField[T any](t *testing.T, of *ast.Definition, name string, field field[T]) {
	t.Helper()
	want := of.Fields.ForName(name)
	if want == nil {
		t.Errorf("the schema has no field %s.%s", of.Name, name)
		return
	}
	neverNull := strings.TrimSuffix(field.typ, "!") // a field that is never null may be nullable in the schema
	if typ := want.Type.String(); typ != field.typ && typ != neverNull {
		t.Errorf("%s.%s is written as %s, and is %s", of.Name, name, field.typ, typ)
	}
	var arguments []string
	for _, argument := range want.Arguments {
		arguments = append(arguments, argument.Name)
	}
	if !slices.Equal(field.arguments, arguments) {
		t.Errorf("%s.%s reads the arguments %v, and has %v", of.Name, name, field.arguments, arguments)
	}
}

func objectsInSource(t *testing.T) int {
	t.Helper()
	count := 0
	for _, file := range []string{"types.go", "products.go"} {
		count += strings.Count(string(must.Get(os.ReadFile(file))(t)), "= &object[")
	}
	return count
}

// A field with an argument that its entry does not read is left to gqlgen, even if the operation
// omits it. The default could change the answer.
func TestUnknownArgumentIsLeftToGqlgen(t *testing.T) {
	lang, as := &ast.ArgumentDefinition{Name: "lang"}, &ast.ArgumentDefinition{Name: "as"}
	for _, row := range []struct {
		why       string
		field     string
		arguments ast.ArgumentDefinitionList
		want      bool
	}{
		{"no argument", "id", nil, true},
		{"an argument that is read", "stats", ast.ArgumentDefinitionList{lang}, true},
		{"a new argument of a field without any", "id", ast.ArgumentDefinitionList{as}, false},
		{"a new argument beside one that is read", "stats", ast.ArgumentDefinitionList{lang, as}, false},
	} {
		asked := &ast.Field{Name: row.field, Definition: &ast.FieldDefinition{Arguments: row.arguments}}
		_, got := products.member(operation{OperationContext: &graphql.OperationContext{}}, graphql.CollectedField{Field: asked})
		if got != row.want {
			t.Errorf("%s: %v", row.why, got)
		}
	}
}
