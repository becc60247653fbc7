// Package arch checks the project's own architecture: the allowed imports, one comment for each
// package, and generated code that matches its generator. It has tests only.
package arch
