// Package admin answers operators and their programs, on a listener of its own: metrics in
// Prometheus' format, profiles of Go's runtime, health and readiness.
package admin
