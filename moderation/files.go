package moderation

import (
	"bytes"

	"github.com/talkback/talkback/internal/fetch"
)

// readFile reads a file of a bounded length. It leaves out the byte order mark that some editors
// write.
func readFile(path string, most int) ([]byte, error) {
	text, err := fetch.File(path, most)
	return bytes.TrimPrefix(text, []byte("\ufeff")), err
}
