// Package streamtest has streams that behave as badly as they may. It is test support, and no shipped code imports it.
package streamtest

import (
	"context"
	"sync/atomic"

	"github.com/talkback/talkback/stream"
)

// LateSource is a stream that publishes late: while it holds records back, each read is answered at once, and empty. The
// zero value with a Source holds nothing back.
type LateSource struct {
	stream.Source
	held  atomic.Bool
	reads atomic.Int64
}

// Hold has records held back from the next read on, or no longer.
func (s *LateSource) Hold(hold bool) { s.held.Store(hold) }

// Reads is how many reads were answered with nothing, though there may have been records.
func (s *LateSource) Reads() int { return int(s.reads.Load()) }

// Read implements stream.Source.
func (s *LateSource) Read(ctx context.Context, label, iterator string) (stream.Batch, error) {
	if s.held.Load() {
		s.reads.Add(1)
		return stream.Batch{Next: iterator}, ctx.Err()
	}
	return s.Source.Read(ctx, label, iterator)
}
