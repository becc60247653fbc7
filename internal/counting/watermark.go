package counting

import (
	"context"
	"time"

	"github.com/talkback/talkback/stream"
)

// Watermark reads up to when the statistics are right. It implements dynamo.Watermark.
type Watermark struct {
	// Leases of the table's stream. Required.
	Leases Leases
}

// ProcessedUpTo returns a time up to which every change is counted; known is false while the
// statistics may be wrong.
func (w Watermark) ProcessedUpTo(ctx context.Context) (upTo time.Time, known bool, err error) {
	state, leases, err := w.Leases.Current(ctx)
	if err != nil {
		return time.Time{}, false, err
	}
	upTo, known = stream.ProcessedUpTo(leases)
	return upTo, known && state.Complete, nil
}
