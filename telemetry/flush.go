package telemetry

import (
	"context"
	"sync"
	"time"
)

// flushWithin bounds how long an invocation takes longer for what it tells.
const flushWithin = time.Second

// Flush sends what was traced and measured so far, both at once, for a second at most. It is for a
// process that stands still afterwards; nil traces and metrics send nothing.
func Flush(ctx context.Context, traces *Traces, metrics *Metrics) {
	ctx, cancel := context.WithTimeout(ctx, flushWithin)
	defer cancel()
	var sending sync.WaitGroup // what fails is logged
	sending.Go(func() { traces.Flush(ctx) })
	sending.Go(func() { metrics.Flush(ctx) })
	sending.Wait()
}
