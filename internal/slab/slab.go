// Package slab makes many short strings in few allocations.
package slab

import "strings"

// block is how many bytes are allocated at once, and largest the size in bytes of the strings that
// share a block. As long as one string of a block is kept, the others are.
const (
	block   = 2 << 10
	largest = block / 4
)

// Strings makes strings that share their allocations. The zero value is ready to use. It must not be
// copied, and only one goroutine may use it at a time; the strings are like any others.
type Strings struct{ room strings.Builder }

// Join returns the two parts as one string.
func (s *Strings) Join(before string, after []byte) string {
	size := len(before) + len(after)
	if size > largest {
		return before + string(after)
	}
	if s.room.Cap()-s.room.Len() < size {
		s.room.Reset()
		s.room.Grow(block)
	}
	from := s.room.Len()
	s.room.WriteString(before)
	s.room.Write(after)
	return s.room.String()[from:]
}
