//go:build tools

// Package main pins the code generator in go.mod, so that everyone generates with the same version.
package main

import _ "github.com/99designs/gqlgen"
