package httpapi

import (
	"bytes"
	"sync"
)

// keptBody is the largest buffer that is kept for another answer, in bytes: a page of 20 fits. It
// counts as a whole while an answer waits, however small that is.
const keptBody = 16 << 10

var bodyBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// keepBody keeps a buffer that is no longer used.
func keepBody(body *bytes.Buffer) {
	if body.Cap() <= keptBody {
		body.Reset()
		bodyBuffers.Put(body)
	}
}
