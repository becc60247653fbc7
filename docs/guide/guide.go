// Package guide holds the guides for application engineers, so that the server can serve those of
// its own version.
package guide

import "embed"

// Files are the guides, in Markdown.
//
//go:embed *.md frameworks/*.md
var Files embed.FS
