// Package contract holds schema.graphqls to what outside programs rely on: names and descriptions as
// two linters want them, and no breaking change since the last release, whose schema is
// released.graphqls. It has tests only.
package contract
