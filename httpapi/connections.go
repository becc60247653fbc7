package httpapi

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// Connections bounds what clients may hold of a server before it works for them: the connections that are open, and the bytes
// of requests that are still arriving. Nobody is kept waiting for room: it is made, at the cost of those who leave theirs
// unused for longest. Safe for concurrent use.
type Connections struct {
	max      int
	arriving *budget

	mu   sync.Mutex
	open map[*connection]struct{}
}

// NewConnections bounds the open connections, and the requests that are still arriving in bytes. Zero stands for
// DefaultMaxConnections and DefaultMaxArriving.
func NewConnections(maxOpen, maxArriving int) *Connections {
	return &Connections{max: cmp.Or(maxOpen, DefaultMaxConnections), arriving: newBudget(cmp.Or(maxArriving, DefaultMaxArriving)), open: map[*connection]struct{}{}}
}

// Bound lets a server know of the connections of a listener, and returns the one to serve on. The server's handler must be one
// made with these connections as an option.
func (c *Connections) Bound(server *http.Server, listener net.Listener) net.Listener {
	server.ConnState = c.changed
	server.ConnContext = func(ctx context.Context, conn net.Conn) context.Context {
		return context.WithValue(ctx, connectionKey{}, connectionUnder(conn))
	}
	return boundListener{listener, c}
}

type boundListener struct {
	net.Listener
	connections *Connections
}

// Accept implements [net.Listener].
func (l boundListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.connections.accept(conn), nil
}

// accept takes a connection in, and closes another one when there are too many.
func (c *Connections) accept(conn net.Conn) *connection {
	added := &connection{Conn: conn, all: c, since: time.Now()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[added] = struct{}{}
	if len(c.open) > c.max {
		worst := c.leastUsed(added)
		delete(c.open, worst)
		worst.hangUp()
	}
	return added
}

// leastUsed is the connection that is closed first: one without a request, else one that sends or reads; of these the one for
// which nothing has happened for longest. Those that are worked for stay, so at last it is the one that was just added.
func (c *Connections) leastUsed(added *connection) *connection {
	worst := added
	for other := range c.open {
		if other == added || other.use() == worked {
			continue
		}
		if worst == added || other.use() < worst.use() || other.use() == worst.use() && other.since.Before(worst.since) {
			worst = other
		}
	}
	return worst
}

// changed is the server's ConnState.
func (c *Connections) changed(conn net.Conn, state http.ConnState) {
	if known := connectionUnder(conn); known != nil {
		c.update(known, func() {
			if known.idle = state == http.StateIdle; known.idle {
				known.forgetHead()
			}
		})
	}
}

// update changes what is known of a connection, for which something happens thereby.
func (c *Connections) update(of *connection, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	of.since = time.Now()
}

// enter is called when the head of a request is there. Leave has to be called at its end.
func (c *Connections) enter(by *connection) (leave func()) {
	c.update(by, func() {
		by.requests++
		by.forgetHead()
	})
	return func() { c.update(by, func() { by.requests-- }) }
}

// work is called when work for a request begins. Done has to be called at its end.
func (c *Connections) work(by *connection) (done func()) {
	c.update(by, func() { by.working++ })
	return func() { c.update(by, func() { by.working-- }) }
}

type connectionKey struct{}

// of is the connection of a request; on a server that is not bound, one that holds this request alone.
func (c *Connections) of(ctx context.Context) *connection {
	if known, ok := ctx.Value(connectionKey{}).(*connection); ok && known != nil {
		return known
	}
	return &connection{all: c}
}

// connectionUnder is ours under TLS, if there is TLS; nil when the listener is not bound.
func connectionUnder(conn net.Conn) *connection {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	known, _ := conn.(*connection)
	return known
}

// connection is a client's. It counts the head of a request while that arrives.
type connection struct {
	net.Conn // nil on a server that is not bound
	all      *Connections

	// Guarded by all.mu.
	idle     bool // said by the server
	requests int  // whose heads are there, not yet answered in full
	working  int  // of these, those that are worked for
	since    time.Time
	head     *held
}

// use is what a connection is used for, the least first.
type use int

const (
	unused use = iota
	moving     // a request or an answer is on its way
	worked     // a request is worked for
)

func (c *connection) use() use {
	switch {
	case c.working > 0:
		return worked
	case c.requests == 0 && (c.idle || c.head == nil): // also one that never sent a byte
		return unused
	}
	return moving
}

// Read implements [net.Conn]. Bytes that come while there is no request are the head of one; those of bodies are counted as they
// are read.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.countHead(n)
	}
	return n, err
}

func (c *connection) countHead(bytes int) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	switch {
	case c.requests > 0:
	case c.head == nil:
		c.head = c.all.arriving.add(c, headCost*bytes, c.hangUp)
	default:
		c.all.arriving.grow(c.head, headCost*bytes)
	}
}

// forgetHead needs all.mu.
func (c *connection) forgetHead() {
	if c.head != nil {
		c.all.arriving.remove(c.head)
		c.head = nil
	}
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.all.mu.Lock()
	delete(c.all.open, c)
	c.forgetHead()
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// hangUp closes the connection under TLS, if there is TLS: saying goodbye to a client that does not read would block. The
// server notices, and closes the rest.
func (c *connection) hangUp() {
	if c.Conn != nil {
		_ = c.Conn.Close() // the requests on it fail either way
	}
}
