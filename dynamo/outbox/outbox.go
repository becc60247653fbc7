package outbox

import (
	"sync"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/stream"
)

// Outbox is the log of events of a table. It is safe for concurrent use by goroutines and processes.
type Outbox struct {
	*store
	lanes [Lanes]*lane

	mu     sync.Mutex // guards the fields below
	looked time.Time
	wanted Wanted
}

// New makes the outbox of a table. It makes no call.
func New(client Client, table string) *Outbox {
	o := &Outbox{store: &store{client: client, table: table, now: time.Now}}
	for i := range o.lanes {
		o.lanes[i] = &lane{store: o.store, number: i, busy: make(chan struct{}, 1), recent: map[comment.ID]stream.Position{}}
	}
	return o
}

// Wanted has the names of those who want events, and until when; the zero time means without limit.
type Wanted map[string]time.Time

// Any reports whether anybody wants events.
func (w Wanted) Any() bool { return len(w) > 0 }
