// Package docsite builds README.md and docs/ into a static site, by VitePress, and visits it. The
// package itself has only tests; build.mjs beside them builds.
package docsite
