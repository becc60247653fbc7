// Package streamtest has streams that behave as badly as AWS allows, and the watermark of one that
// never lags. It is test support, and no shipped code imports it.
package streamtest

import (
	"context"
	"sync/atomic"

	"github.com/talkback/talkback/stream"
)

// LateSource is a stream that publishes late. While it holds records back, each read is answered at
// once without records. The zero value with a Source holds nothing back.
type LateSource struct {
	stream.Source
	held  atomic.Bool
	reads atomic.Int64
}

// Hold starts or stops holding records back, from the next read on.
func (s *LateSource) Hold(hold bool) { s.held.Store(hold) }

// Reads is how many reads were answered without records while these were held back.
func (s *LateSource) Reads() int { return int(s.reads.Load()) }

// Read implements stream.Source.
func (s *LateSource) Read(ctx context.Context, label, iterator string) (stream.Batch, error) {
	if s.held.Load() {
		s.reads.Add(1)
		return stream.Batch{Next: iterator}, ctx.Err()
	}
	return s.Source.Read(ctx, label, iterator)
}
