package resolvers_test

import (
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
	"github.com/talkback/talkback/resolvers"
)

// A server that is no subgraph shows exactly schema.graphqls.
func TestAlone(t *testing.T) {
	alone, file := resolvers.Schema(false), schematest.Load(t)
	for _, schema := range []*ast.Schema{alone, file} {
		delete(schema.Directives, "defer") // which gqlgen declares, and httpapi takes away
	}
	same(t, "types", alone.Types, file.Types)
	same(t, "directives", alone.Directives, file.Directives)
	for _, field := range alone.Query.Fields {
		if file.Query.Fields.ForName(field.Name) == nil {
			t.Errorf("Query.%s is not in schema.graphqls", field.Name)
		}
	}
	if len(alone.Query.Fields) != len(file.Query.Fields) || alone.Types["Query"] != alone.Query {
		t.Error("Query has other fields than in schema.graphqls")
	}
}

func same[T any](t *testing.T, what string, got, want map[string]T) {
	t.Helper()
	for name := range got {
		if _, known := want[name]; !known {
			t.Errorf("%s: %s is not in schema.graphqls", what, name)
		}
	}
	for name := range want {
		if _, known := got[name]; !known {
			t.Errorf("%s: %s is missing", what, name)
		}
	}
}

// A subgraph has the fields that the subgraph specification requires. Its text has the whole schema
// except for the fields that collide.
func TestSubgraph(t *testing.T) {
	shown := resolvers.Schema(true)
	if shown.Query.Fields.ForName("_entities") == nil || shown.Query.Fields.ForName("_service") == nil || shown.Types["Entity"] != nil {
		t.Error("the schema is not that of a subgraph")
	}
	const spec = `
		directive @link(url: String!, import: [String!]) repeatable on SCHEMA
		directive @key(fields: String!, resolvable: Boolean = true) repeatable on OBJECT | INTERFACE
		directive @shareable repeatable on OBJECT | FIELD_DEFINITION`
	sdl := must.Get(gqlparser.LoadSchema(&ast.Source{Input: resolvers.SubgraphSDL()}, &ast.Source{Input: spec}))(t)
	for _, field := range schematest.Load(t).Query.Fields {
		colliding := strings.Contains("product products node nodes", field.Name)
		if has := sdl.Query.Fields.ForName(field.Name) != nil; has == colliding {
			t.Errorf("Query.%s: in the text %v", field.Name, has)
		}
	}
	for _, entity := range []string{"Product", "Comment", "Author"} {
		if sdl.Types[entity].Directives.ForName("key") == nil {
			t.Errorf("%s has no key", entity)
		}
	}
}
