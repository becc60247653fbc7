// Package buffer lends memory for answers: for their data, until it is copied to where it is sent from,
// and for large ones until they are sent.
package buffer

import "sync"

// size is how large the buffers are that are lent. A page of 100 comments fits.
const size = 64 << 10

var buffers = sync.Pool{New: func() any { return new([size]byte) }}

// Get returns an empty slice with room for so many bytes. Its memory may have served others, and may
// serve others once it is given to [Put].
func Get(room int) []byte {
	if room > size {
		return make([]byte, 0, room)
	}
	return buffers.Get().(*[size]byte)[:0]
}

// Put takes back a slice that Get returned, or that was appended to it. The caller must not use it any
// more. A slice of other memory is left alone unless it is as large: then it is kept as well.
func Put(used []byte) {
	if cap(used) == size {
		buffers.Put((*[size]byte)(used[:size]))
	}
}
