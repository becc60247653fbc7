// Package subgraph tells what the API is within Apollo Federation 2, and what it is without: gqlgen's
// plugin adds fields and types to the schema that a server shows only if it is a subgraph.
package subgraph

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
)

// Colliding are the fields of Query that any service of products has too. A subgraph leaves them to that
// service, whose products have its own fields and those of this subgraph.
var Colliding = []string{"product", "products", "node", "nodes"}

// Schema returns the schema that a subgraph is asked by: the full one, without a type that only gqlgen
// reads.
func Schema(full *ast.Schema) *ast.Schema {
	shown := copied(full)
	delete(shown.Types, "Entity")
	return shown
}

// Served returns the schema of a server, which may be a subgraph.
func Served(full *ast.Schema, isSubgraph bool) *ast.Schema {
	if isSubgraph {
		return Schema(full)
	}
	return Alone(full)
}

// Alone returns the schema of a server that is no subgraph.
func Alone(full *ast.Schema) *ast.Schema {
	alone := copied(full)
	maps.DeleteFunc(alone.Types, func(_ string, d *ast.Definition) bool { return added(d.Position) })
	maps.DeleteFunc(alone.Directives, func(_ string, d *ast.DirectiveDefinition) bool { return added(d.Position) })
	query := *full.Query
	query.Fields = slices.DeleteFunc(slices.Clone(query.Fields), func(f *ast.FieldDefinition) bool { return added(f.Position) })
	alone.Query, alone.Types[query.Name] = &query, &query
	return alone
}

// copied returns a schema whose types and directives may be taken away. What implements what stays as
// gqlgen's code has it.
func copied(full *ast.Schema) *ast.Schema {
	c := *full
	c.Types, c.Directives = maps.Clone(full.Types), maps.Clone(full.Directives)
	return &c
}

// added reports whether gqlgen's plugin added what stands there.
func added(at *ast.Position) bool {
	return at != nil && strings.Contains(at.Src.Name, "/federation/")
}

// SDL returns the text of the subgraph's schema, for those who compose a supergraph.
func SDL(full *ast.Schema) string {
	document, err := parser.ParseSchemas(full.Query.Position.Src, full.Types["Product"].Directives.ForName("key").Position.Src)
	if err != nil {
		panic(fmt.Errorf("the schema of the subgraph, which was read before: %w", err))
	}
	query := document.Definitions.ForName(full.Query.Name)
	query.Fields = slices.DeleteFunc(query.Fields, func(f *ast.FieldDefinition) bool { return slices.Contains(Colliding, f.Name) })
	for _, extension := range document.Extensions { // @shareable is about the fields of the same braces only
		of := document.Definitions.ForName(extension.Name)
		of.Directives = append(of.Directives, extension.Directives...)
	}
	document.Extensions = nil
	var sdl strings.Builder
	formatter.NewFormatter(&sdl, formatter.WithIndent("  ")).FormatSchemaDocument(document)
	return sdl.String()
}
