package httpapi

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// watchEvery is how often the server looks whether the clients of requests in progress are there.
const watchEvery = 20 * time.Millisecond

// watch ends requests in progress whose clients hang up.
//
// net/http would notice that by a read from each connection. Each of these reads takes a call of the
// system, and a deadline that ends it once the answer is built. For a connection that is watched here
// they return at once, and the system is asked only about requests that take some time.
// Safe for concurrent use.
type watch struct {
	mu      sync.Mutex
	watched map[syscall.RawConn]context.CancelFunc
	looking bool
}

// begin watches the client of a request until end, and calls hungUp when it has gone. A connection of
// HTTP/1.1 has one request at a time.
func (w *watch) begin(client syscall.RawConn, hungUp context.CancelFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watched == nil {
		w.watched = map[syscall.RawConn]context.CancelFunc{}
	}
	w.watched[client] = hungUp
	if !w.looking {
		w.looking = true
		time.AfterFunc(watchEvery, w.look)
	}
}

func (w *watch) end(client syscall.RawConn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.watched, client)
}

// look looks at each client that is watched, and again later as long as there are any.
func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for client, hungUp := range w.watched {
		if gone(client) {
			hungUp()
		}
	}
	if w.looking = len(w.watched) > 0; w.looking {
		time.AfterFunc(watchEvery, w.look)
	}
}
