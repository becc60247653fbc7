package httpapi

import (
	"context"
	"net"
	"sync"
	"time"
)

type connectionKey struct{}

// WithConnection is the ConnContext of an [net/http.Server] that serves this package's handler: by it, the handler can
// close the connection of a client that does not read its answers.
func WithConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, &connection{conn: conn})
}

// connection is a client's, with what it has not read yet. Fields are guarded by the unsent that counts them.
type connection struct {
	conn  net.Conn // nil when the server lacks WithConnection
	bytes int
}

// connectionOf is the connection of a request; on a server without WithConnection, one that holds this request alone.
func connectionOf(ctx context.Context) *connection {
	if c, ok := ctx.Value(connectionKey{}).(*connection); ok {
		return c
	}
	return &connection{}
}

// close closes the connection under TLS, if there is TLS: saying goodbye to a client that does not read would block.
func (c *connection) close() {
	conn := c.conn
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	if conn != nil {
		_ = conn.Close() // the requests on it fail either way
	}
}

// unsent counts the bytes of answers that are built and that clients have not read yet, and keeps them below a bound. An answer
// that does not fit is sent all the same: the connections that make others wait are closed for it. Those are clients that do not
// read, or hardly, so nobody who reads is ever refused for them. Safe for concurrent use.
type unsent struct {
	max int // bytes

	mu      sync.Mutex
	total   int
	waiting map[*waiting]struct{}
}

// waiting is an answer on its way.
type waiting struct {
	to    *connection
	bytes int
	since time.Time
}

func newUnsent(limit int) *unsent {
	return &unsent{max: limit, waiting: map[*waiting]struct{}{}}
}

// connectionShare is the part of all unsent bytes that one connection may leave unread before its further requests are
// refused. A proxy may send those of thousands of clients over one connection, and reads as they come.
const connectionShare = 8

// full tells whether a connection has to read before it may ask for more.
func (u *unsent) full(c *connection) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return c.bytes > u.max/connectionShare
}

// add counts an answer until it is removed. It is nil when its connection was closed to make room, and nothing can be sent
// any more.
func (u *unsent) add(to *connection, size int) *waiting {
	added := &waiting{to: to, bytes: size, since: time.Now()}
	for _, c := range u.makeRoom(added) {
		c.close()
		if c == to {
			added = nil
		}
	}
	return added
}

// makeRoom adds an answer, and drops connections until what is left is within the bound or is this answer alone. It
// returns the dropped ones.
func (u *unsent) makeRoom(added *waiting) (dropped []*connection) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.waiting[added] = struct{}{}
	u.total += added.bytes
	added.to.bytes += added.bytes
	for u.total > u.max {
		c := u.slowest(added)
		if c == nil {
			break
		}
		u.drop(c)
		dropped = append(dropped, c)
	}
	return dropped
}

// slowest is the connection that keeps most bytes waiting for longest: the sum of bytes times time. Bytes alone would hit the one
// who reads a large answer, time alone the one who reads a small answer over a bad line. Nil when only the added answer waits.
func (u *unsent) slowest(added *waiting) *connection {
	held := map[*connection]time.Duration{}
	for w := range u.waiting {
		if w != added {
			held[w.to] += time.Duration(w.bytes) * (added.since.Sub(w.since).Truncate(time.Millisecond)/time.Millisecond + 1)
		}
	}
	var worst *connection
	for c, byteMilliseconds := range held {
		if worst == nil || byteMilliseconds > held[worst] {
			worst = c
		}
	}
	return worst
}

// drop forgets all answers to a connection.
func (u *unsent) drop(c *connection) {
	for w := range u.waiting {
		if w.to == c {
			u.forget(w)
		}
	}
}

// remove ends the counting of an answer that was sent, or cannot be.
func (u *unsent) remove(w *waiting) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.forget(w)
}

func (u *unsent) forget(w *waiting) {
	if _, there := u.waiting[w]; there {
		delete(u.waiting, w)
		u.total -= w.bytes
		w.to.bytes -= w.bytes
	}
}
