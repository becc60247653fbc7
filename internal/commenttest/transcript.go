package commenttest

import (
	"strings"
	"sync"
)

// Transcript is what a program has written so far, such as its log. It is safe for concurrent use.
type Transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write implements io.Writer.
func (t *Transcript) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

// String returns the whole text.
func (t *Transcript) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}
