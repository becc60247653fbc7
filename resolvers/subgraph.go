package resolvers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/talkback/talkback/graph"
)

// Schema returns the schema that a server shows: that of a subgraph of Apollo Federation 2, or the
// schema without the definitions that gqlgen's plugin adds for one.
func Schema(isSubgraph bool) *ast.Schema {
	shown := *fullSchema()
	shown.Types, shown.Directives = maps.Clone(shown.Types), maps.Clone(shown.Directives)
	if isSubgraph {
		delete(shown.Types, "Entity") // only gqlgen reads it
		return &shown
	}
	maps.DeleteFunc(shown.Types, func(_ string, d *ast.Definition) bool { return added(d.Position) })
	maps.DeleteFunc(shown.Directives, func(_ string, d *ast.DirectiveDefinition) bool { return added(d.Position) })
	query := *shown.Query
	query.Fields = slices.DeleteFunc(slices.Clone(query.Fields), func(f *ast.FieldDefinition) bool { return added(f.Position) })
	shown.Query, shown.Types[query.Name] = &query, &query
	return &shown
}

// fullSchema returns the schema as gqlgen's code has it.
func fullSchema() *ast.Schema { return graph.NewExecutableSchema(graph.Config{}).Schema() }

// added reports whether gqlgen's plugin added the definition at a position.
func added(at *ast.Position) bool {
	return at != nil && strings.Contains(at.Src.Name, "/federation/")
}

// colliding are the fields of Query that a product service has, too. A subgraph leaves them to that
// service, whose products have its own fields and those of this subgraph.
var colliding = []string{"product", "products", "node", "nodes"}

// SubgraphSDL returns the text of the subgraph's schema, from which a supergraph is composed.
func SubgraphSDL() string {
	full := fullSchema()
	document, err := parser.ParseSchemas(full.Query.Position.Src, full.Types["Product"].Directives.ForName("key").Position.Src)
	if err != nil {
		panic(fmt.Errorf("the schema of the subgraph, which was read before: %w", err))
	}
	query := document.Definitions.ForName(full.Query.Name)
	query.Fields = slices.DeleteFunc(query.Fields, func(f *ast.FieldDefinition) bool { return slices.Contains(colliding, f.Name) })
	for _, extension := range document.Extensions { // @shareable covers only the fields of its own definition
		of := document.Definitions.ForName(extension.Name)
		of.Directives = append(of.Directives, extension.Directives...)
	}
	document.Extensions = nil
	var sdl strings.Builder
	formatter.NewFormatter(&sdl, formatter.WithIndent("  ")).FormatSchemaDocument(document)
	return sdl.String()
}
