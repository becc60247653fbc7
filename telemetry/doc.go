// Package telemetry tells people and machines how a process fares: its metrics in Prometheus' format
// and by OTLP, and the profiles of Go's runtime.
//
// OpenTelemetry is what measures. Packages that have something to tell take a small interface of
// their own, which types here implement; the commands plug the two together. Nothing is global: two
// servers in one process measure apart. Nothing is measured unless someone asks for it, by an
// address to listen on or by the OTEL_ variables.
package telemetry
