// Package arch holds the project to its own architecture: who may import whom, one comment for each
// package, generated code that is as the generator makes it. It has tests only.
package arch
