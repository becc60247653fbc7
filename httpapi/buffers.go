package httpapi

import (
	"bytes"
	"sync"

	"github.com/talkback/talkback/internal/buffer"
)

// keptBody is the size of the largest answers, in bytes, for which buffers are kept here: a page of 20
// fits. A buffer counts as a whole while an answer waits, however small that is. So larger answers
// have larger buffers, of package buffer.
const keptBody = 16 << 10

var bodyBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// growBody makes room for so many bytes more. A buffer that is made for a page gets the size that is
// kept at once: it would soon double beyond that.
func growBody(body *bytes.Buffer, size int) {
	if size > keptBody/4 {
		body.Grow(max(size, keptBody-body.Len()))
	}
}

// keepBody keeps a buffer that is no longer used.
func keepBody(body *bytes.Buffer) {
	if body.Cap() > keptBody {
		buffer.Put(body.Bytes())
		return
	}
	body.Reset()
	bodyBuffers.Put(body)
}
