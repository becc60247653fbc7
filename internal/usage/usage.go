// Package usage follows what each operation uses while it runs, in an account and in the spans of
// a trace. Both travel in the context, so this package depends on neither the table nor HTTP.
//
// An account has read units, calls, waves, comments written, and the bytes of text that the
// operation holds. The bytes are bounded, per operation and for all operations of a process
// together.
//
// Spans show a request, its operation, each wave of reads, each call to the table, and each batch
// of the stream. Their names are those of OpenTelemetry's semantic conventions where there are
// some, and begin with talkback. else. No attribute holds what customers wrote, nor who they are.
// The package knows OpenTelemetry's API and not its SDK, which package telemetry sets up. Where no
// span is being recorded, the functions return at once and allocate nothing.
package usage

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/talkback/talkback/comment"
)

// Pool bounds the bytes that all operations of a process hold together. It is safe for concurrent
// use.
type Pool struct {
	limit int64
	held  atomic.Int64
}

// NewPool returns a pool of limit bytes.
func NewPool(limit int) *Pool { return &Pool{limit: int64(limit)} }

// Held returns how many bytes the pool's operations hold now.
func (p *Pool) Held() int { return int(p.held.Load()) }

// Open returns the account of an operation that may hold limit bytes. The caller closes it. An
// operation cannot hold more than the pool, however often it tries again.
func (p *Pool) Open(limit int) *Operation {
	return &Operation{pool: p, limit: min(int64(limit), p.limit)}
}

// Operation is the account of one operation. It is safe for concurrent use. A nil account counts
// and bounds nothing, for callers that do not serve requests, such as an export.
type Operation struct {
	pool  *Pool
	limit int64

	mu     sync.Mutex
	closed bool
	held   int64
	reads  Reads
	writes int
	plans  [keptPlans]fmt.Stringer // the first ones; nil beyond the last
}

// Reads is what an operation has read so far.
type Reads struct {
	// Units are the read units consumed.
	Units float64
	// Calls is the number of answered calls, Waves the number of waves that they form.
	Calls, Waves int
}

// keptPlans is how many plans of an operation are kept. Few operations have more lists.
const keptPlans = 4

// Hold adds bytes to the account until Close releases them. It never waits. If the operation would
// hold too much, it adds nothing and returns a TooMuchText error; if the process would, an
// Overloaded error. After Close it returns a Canceled error.
func (o *Operation) Hold(bytes int) error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return comment.Errorf(comment.Canceled, "the operation is over")
	}
	if o.held+int64(bytes) > o.limit {
		return comment.Errorf(comment.TooMuchText,
			"the texts of this operation take more than %d bytes: ask for fewer comments, or leave out their texts", o.limit)
	}
	if o.pool.held.Add(int64(bytes)) > o.pool.limit {
		o.pool.held.Add(-int64(bytes))
		return comment.Errorf(comment.Overloaded, "the texts of all operations under way take too much memory: try again in a second")
	}
	o.held += int64(bytes)
	return nil
}

// Drop releases held bytes before Close.
func (o *Operation) Drop(bytes int) {
	o.locked(func() {
		if !o.closed {
			o.held -= int64(bytes)
			o.pool.held.Add(-int64(bytes))
		}
	})
}

// locked calls f while no other goroutine uses the account, unless there is none.
func (o *Operation) locked(f func()) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// Consume adds answered calls and the read units that they consumed.
func (o *Operation) Consume(calls int, units float64) {
	o.locked(func() {
		o.reads.Calls += calls
		o.reads.Units += units
	})
}

// Write counts a comment that is written or deleted.
func (o *Operation) Write() { o.locked(func() { o.writes++ }) }

// Writes returns the number of comments written or deleted so far, including failed attempts.
func (o *Operation) Writes() (writes int) {
	o.locked(func() { writes = o.writes })
	return writes
}

// Keep keeps a plan that is carried out, to print it if the operation turns out to be slow. The
// plan must not change.
func (o *Operation) Keep(plan fmt.Stringer) {
	o.locked(func() {
		if free := slices.Index(o.plans[:], nil); free >= 0 {
			o.plans[free] = plan
		}
	})
}

// Reads returns the reads so far.
func (o *Operation) Reads() (reads Reads) {
	o.locked(func() { reads = o.reads })
	return reads
}

// Units returns the read units consumed so far.
func (o *Operation) Units() float64 { return o.Reads().Units }

// Plans returns descriptions of the first plans that were carried out.
func (o *Operation) Plans() []string {
	var kept [keptPlans]fmt.Stringer
	o.locked(func() { kept = o.plans })
	var plans []string
	for _, plan := range kept {
		if plan != nil {
			plans = append(plans, plan.String())
		}
	}
	return plans
}

// Close releases everything that the operation holds. Call it when the answer is built: the copy
// being sent is counted elsewhere.
func (o *Operation) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pool.held.Add(-o.held)
	o.held, o.closed = 0, true
}

type contextKey struct{}

// With adds the account of an operation to its context.
func With(ctx context.Context, o *Operation) context.Context {
	return context.WithValue(ctx, contextKey{}, o)
}

// From returns the account of the operation in a context, nil for none.
func From(ctx context.Context) *Operation {
	o, _ := ctx.Value(contextKey{}).(*Operation)
	return o
}
