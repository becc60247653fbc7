// Package slab makes many short strings in few allocations.
package slab

import "strings"

// usualBlock is how many bytes are allocated at once, unless a Strings says otherwise.
const usualBlock = 2 << 10

// Strings makes strings that share their allocations. As long as one string of a block is kept, the
// others are. The zero value is ready to use. It must not be copied, and only one goroutine may use
// it at a time; the strings are like any others.
type Strings struct {
	// Block is how many bytes are allocated at once, 0 for 2 KB. Strings of more than a quarter are
	// allocated alone.
	Block int

	room strings.Builder
}

// Join returns the two parts as one string. The nil Strings allocates each alone.
func (s *Strings) Join(before string, after []byte) string {
	if s == nil {
		return before + string(after)
	}
	size, block := len(before)+len(after), s.Block
	if block == 0 {
		block = usualBlock
	}
	if size > block/4 {
		return before + string(after)
	}
	if s.room.Cap()-s.room.Len() < size {
		s.room.Reset()
		s.room.Grow(block)
	}
	from := s.room.Len()
	if before != "" {
		s.room.WriteString(before)
	}
	s.room.Write(after)
	return s.room.String()[from:]
}
