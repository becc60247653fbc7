package workload

import (
	"cmp"
	"context"
	"math/rand/v2"
	"sync"
)

// Run reads and writes until the context ends, then until the outcome of each write under way is
// known, if possible. It returns the violations so far.
func (w *Workload) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for i := range cmp.Or(w.Readers, 3) {
		r := reader{w, rand.New(rand.NewPCG(w.seed, uint64(i)))}
		running.Go(func() { w.repeat(ctx, func() { r.read(ctx) }) })
	}
	for i := range cmp.Or(w.Writers, 2) {
		writer := writer{Workload: w, random: rand.New(rand.NewPCG(w.seed, uint64(100+i))), number: i}
		running.Go(func() { w.repeat(ctx, func() { writer.write(context.WithoutCancel(ctx)) }) })
	}
	running.Wait()
	return w.Err()
}

// repeat works until the context ends.
func (w *Workload) repeat(ctx context.Context, work func()) {
	for ctx.Err() == nil {
		work()
		rest(ctx, w.Rest)
	}
}
