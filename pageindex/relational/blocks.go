package relational

import "github.com/talkback/talkback/comment"

// blockOf returns the block of a position: its first 18 bits. A block covers 2^30 milliseconds,
// 12.4 days.
func blockOf(p comment.Position) int { return int(p[0])<<10 | int(p[1])<<2 | int(p[2])>>6 }

// span is a range of positions, both inclusive.
type span struct{ low, high comment.Position }

func spanOf(block int) span {
	var s span
	s.high = comment.MaxPosition
	s.low[0], s.low[1], s.low[2] = byte(block>>10), byte(block>>2), byte(block<<6)
	s.high[0], s.high[1], s.high[2] = s.low[0], s.low[1], s.low[2]|0x3f
	return s
}

// within returns the intersection of two ranges.
func (s span) within(other span) span {
	if s.low.Compare(other.low) < 0 {
		s.low = other.low
	}
	if s.high.Compare(other.high) > 0 {
		s.high = other.high
	}
	return s
}

// split returns the blocks that lie in a range completely, from first to last, and the partial
// blocks at its ends. There are no complete blocks if first is above last.
func (s span) split() (first, last int, parts []span) {
	first, last = blockOf(s.low), blockOf(s.high)
	if part := spanOf(first).within(s); part != spanOf(first) {
		parts = append(parts, part)
		first++
	}
	if part := spanOf(last).within(s); first <= last && part != spanOf(last) {
		parts = append(parts, part)
		last--
	}
	return first, last, parts
}
