// Package usage keeps account of what each operation takes while it runs: the read units that it consumes and the bytes of
// text that it holds. The bytes are bounded, for one operation and for all of a process together. It knows neither the table
// nor HTTP; both take from the account that the context carries.
package usage

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/talkback/talkback/comment"
)

// Pool bounds the bytes that all operations of a process hold together. It is safe for use by many goroutines.
type Pool struct {
	limit int64
	held  atomic.Int64
}

// NewPool makes a pool of so many bytes.
func NewPool(limit int) *Pool { return &Pool{limit: int64(limit)} }

// Held is how many bytes the pool's operations hold at this moment.
func (p *Pool) Held() int { return int(p.held.Load()) }

// Open begins the account of an operation that may hold so many bytes. It has to be closed.
func (p *Pool) Open(limit int) *Operation { return &Operation{pool: p, limit: int64(limit)} }

// Operation is the account of one operation. It is safe for use by many goroutines. A nil one keeps no account and bounds
// nothing, for those who do not serve: an export, a test.
type Operation struct {
	pool  *Pool
	limit int64

	mu     sync.Mutex
	closed bool
	held   int64
	units  float64
}

// Hold takes bytes into the account until Close gives them back. It never waits: it returns a TooMuchText error when the
// operation would hold more than it may, and an Overloaded error when the process would. Then it takes nothing. After
// Close, whatever still runs is of no use to anyone, and gets a Canceled error.
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

// Consume adds read units that a call consumed.
func (o *Operation) Consume(units float64) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.units += units
}

// Units are the read units consumed so far.
func (o *Operation) Units() float64 {
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.units
}

// Close gives back all that the operation holds. It is to be called once its answer is made: whoever sends that holds one
// copy of it, and accounts for that copy.
func (o *Operation) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.pool.held.Add(-o.held)
	o.held, o.closed = 0, true
}

type contextKey struct{}

// With puts the account of an operation into its context.
func With(ctx context.Context, o *Operation) context.Context {
	return context.WithValue(ctx, contextKey{}, o)
}

// From is the account of the operation that a context belongs to, nil when it belongs to none.
func From(ctx context.Context) *Operation {
	o, _ := ctx.Value(contextKey{}).(*Operation)
	return o
}

// QuotedBytes is how many bytes a text takes as JSON, quotes included, written as gqlgen writes it: of what JSON does not
// allow in a string, a byte becomes two or six.
func QuotedBytes(text string) int {
	size := len(text) + len(`""`)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\' || c == '\n' || c == '\r' || c == '\t':
			size++
		case c < ' ':
			size += len(`\u0000`) - 1
		}
	}
	return size
}
