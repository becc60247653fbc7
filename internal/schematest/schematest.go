// Package schematest loads the schema of the API, so that tests can hold operations against it. It
// is test support, and no shipped code imports it.
package schematest

import (
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/talkback/talkback/internal/doctest"
)

// Load returns the schema as the API is served by.
func Load(tb testing.TB) *ast.Schema {
	tb.Helper()
	const name = "schema.graphqls"
	schema, err := gqlparser.LoadSchema(&ast.Source{Name: name, Input: doctest.Read(tb, name).Text})
	if err != nil {
		tb.Fatal(err)
	}
	return schema
}
