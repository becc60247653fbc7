// Package releases tests what `make release` publishes.
package releases
