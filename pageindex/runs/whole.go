package runs

import "github.com/talkback/talkback/comment"

// Unloaded returns the chunks that were not loaded.
func (v *View) Unloaded() []Key {
	var keys []Key
	for _, s := range v.segments {
		if s.chunk != nil {
			keys = append(keys, s.chunk.Key)
		}
	}
	return keys
}

// Runs returns all runs in ascending order, with the head as the last. All chunks must be loaded.
func (v *View) Runs() []Run {
	out := make([]Run, len(v.segments))
	for i, s := range v.segments {
		out[i] = Run{From: s.from, End: s.last.Next(), Counts: s.counts}
	}
	out[len(out)-1].End = comment.MaxPosition
	return out
}
