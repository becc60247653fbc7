package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds that [NewConnections] has unless it is told otherwise.
const (
	// DefaultMaxArriving is 32 MiB: 300 of the largest requests, or some thirteen hundred small ones.
	DefaultMaxArriving = 32 << 20
	// DefaultMaxConnections is enough for proxies, which share theirs, and for a shop's browsers
	// without a proxy.
	DefaultMaxConnections = 1024
)

// headCost is how many bytes of memory each byte of a request's head takes while it arrives: the
// server's buffer doubles as it grows, and each line is copied.
const headCost = 2

// lastFlight is how many bytes a client sends to end a handshake of TLS, at most: 6 that change the
// cipher, and a record of 74 with the longest hash in use. A request has more, in a record of its own.
const lastFlight = 80

// lastLook is for how long a connection that is about to be closed is read once more, if it has no
// socket that can be read at once.
const lastLook = 100 * time.Millisecond

// Connections bounds what clients may hold of a server before it processes their requests: the open
// connections, and the bytes of requests that are still arriving. New connections and bytes are
// never refused. Connections that have been unused for longest are closed to make room for them.
// Safe for concurrent use.
type Connections struct {
	max      int
	arriving *budget
	watch    watch

	stopping atomic.Bool
	gate     atomic.Pointer[refuser] // nil until there is a handler
	server   *http.Server            // whose deadlines hold; nil without Bound

	mu      sync.Mutex
	open    map[*connection]struct{}
	stopped time.Time // when Stop was called
}

// refuser reports whether it has answered what was read from a connection, so that net/http need not.
type refuser func(read []byte, from *connection) bool

// NewConnections bounds the number of open connections, and the bytes of requests that are still
// arriving. Zero stands for DefaultMaxConnections and DefaultMaxArriving.
func NewConnections(maxOpen, maxArriving int) *Connections {
	return &Connections{
		max:      cmp.Or(maxOpen, DefaultMaxConnections),
		arriving: newBudget(cmp.Or(maxArriving, DefaultMaxArriving)),
		open:     map[*connection]struct{}{},
	}
}

// Bound prepares a server for these bounds, and returns the listener to serve on in place of the
// given one. The server's handler must be made with these connections in its Options.
func (c *Connections) Bound(server *http.Server, listener net.Listener) net.Listener {
	c.server = server
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

// accept adds a connection, and closes one if there are too many.
func (c *Connections) accept(conn net.Conn) *connection {
	added := &connection{Conn: conn, all: c, since: time.Now(), socket: socketOf(conn)}
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

// leastUsed returns the connection to close: one without a request, else one that sends or reads.
// Among these, it is the one on which nothing has happened for longest. Connections whose requests
// are being processed stay. If all others are such, it is the one that was just added.
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

// changed is the ConnState hook of the server.
func (c *Connections) changed(conn net.Conn, state http.ConnState) {
	if known := connectionUnder(conn); known != nil {
		c.update(known, func() {
			if known.idle = state == http.StateIdle; known.idle {
				known.framing.end()
				known.arrived.Store(false)
				known.forgetHead()
				known.http2 = known.http2 || !known.asked.Load() // a connection of HTTP/1.1 is idle after a request
				known.countEarly()
			}
		})
	}
}

// update changes the state of a connection, and notes that something happened on it now.
func (c *Connections) update(of *connection, change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	of.since = time.Now()
}

// entered notes which connections have a request.
func (c *Connections) entered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.last(w)
		by := c.of(r.Context())
		c.enter(by, r)
		defer c.leave(by)
		next.ServeHTTP(w, r)
	})
}

// enter is called when the head of a request has arrived. The caller calls leave at its end.
func (c *Connections) enter(by *connection, r *http.Request) {
	by.asked.Store(true)
	c.update(by, func() {
		by.requests++
		by.http2 = r.ProtoMajor == 2
		by.complete = r.ContentLength == 0 && !by.http2
		by.forgetHead()
		by.framing.enter(r)
	})
}

// arrives is called when the body of a request is about to be read. From then on, nothing but the
// body is read until the connection is idle again. If its length is known, no read is of one byte.
// Over TLS, what is read here is encrypted.
func (c *connection) arrives(r *http.Request) {
	if c.socket != nil && r.TLS == nil && r.ProtoMajor == 1 && r.ContentLength >= 0 {
		c.arrived.Store(true)
	}
}

// bodyRead is called when the body of a request was read to its end.
func (c *Connections) bodyRead(by *connection) { c.update(by, func() { by.complete = !by.http2 }) }

// leave is called when an answer was sent.
func (c *Connections) leave(by *connection) { c.update(by, func() { by.requests-- }) }

// begin is called when a request is processed, or may wait for its turn. It has hungUp called if the
// client hangs up. The caller calls done at its end.
func (c *Connections) begin(by *connection, hungUp context.CancelFunc) {
	c.update(by, func() { by.working++ })
	if by.arrived.Load() {
		c.watch.begin(by.socket, hungUp)
	}
}

// done is called when an answer is built, or the request was refused.
func (c *Connections) done(by *connection) {
	c.update(by, func() { by.working-- })
	if by.arrived.Load() {
		c.watch.end(by.socket)
	}
}

// last marks an answer as the last of its connection, if the server is stopping. net/http sends
// GOAWAY in place of the header over HTTP/2.
func (c *Connections) last(w http.ResponseWriter) {
	if c.stopping.Load() {
		w.Header().Set("Connection", "close")
	}
}

type connectionKey struct{}

// of returns the connection of a request. On a server without [Connections.Bound], each request has
// one of its own.
func (c *Connections) of(ctx context.Context) *connection {
	if known, ok := ctx.Value(connectionKey{}).(*connection); ok && known != nil {
		return known
	}
	return &connection{all: c}
}

// connectionUnder returns the connection below TLS, if there is TLS. It is nil without
// [Connections.Bound].
func connectionUnder(conn net.Conn) *connection {
	if encrypted, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = encrypted.NetConn()
	}
	known, _ := conn.(*connection)
	return known
}

// connection is a client's connection. It counts the head of a request while that arrives.
type connection struct {
	net.Conn // nil without Bound
	all      *Connections
	socket   syscall.RawConn // nil if its client cannot be watched

	// gathered is what is written, while an answer is written together, else nil. Only the goroutine
	// that serves the connection writes.
	gathered *bytes.Buffer

	asked   atomic.Bool  // whether a request ever came
	arrived atomic.Bool  // see arrives
	writing atomic.Int32 // calls that write to the client

	sends, unread client // what the client sends, and what it has not read yet

	// Guarded by all.mu.
	idle     bool // as the server says
	requests int  // whose heads have arrived, and whose answers are not sent completely
	working  int  // of these, those being processed or waiting for their turn
	since    time.Time
	head     *held
	http2    bool // as its requests say
	greeted  bool // the server has said something before the first request
	reply    int  // bytes that came since
	complete bool // HTTP/1.1: a request has arrived to its end, and the server has not gone on to the next
	early    int  // bytes of the next request that came since
	expired  bool // it is closed at the end of the server unless a request is arriving
	framing  framing
}

// use is what a connection is used for, from the least to the most.
type use int

const (
	unused use = iota
	moving     // a request or an answer is in transit
	worked     // a request is being processed, or waits for its turn
)

func (c *connection) use() use {
	switch {
	case c.working > 0:
		return worked
	case c.requests == 0 && (c.idle || c.head == nil) && c.writing.Load() == 0: // also one that never sent a byte
		return unused
	}
	return moving
}

// Read implements [net.Conn]. Bytes that arrive while there is no request are counted as the head
// of one. Bodies are counted where they are read.
//
// A read of one byte after a request is net/http's, to see whether the client hangs up. It returns
// nothing, which [io.Reader] allows and net/http takes for its end: see [watch].
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 1 && c.arrived.Load() {
		return 0, nil
	}
	n, err := c.Conn.Read(p)
	for n > 0 && err == nil && c.refused(p[:n]) {
		n, err = c.Conn.Read(p)
	}
	if n == 0 && c.hasExpired(err) {
		n, err = c.readLast(p)
	}
	if n > 0 {
		c.countHead(p[:n])
	}
	return n, err
}

// refused reports whether what was read has been refused by the gate.
func (c *connection) refused(read []byte) bool {
	refuse := c.all.gate.Load()
	return refuse != nil && (*refuse)(read, c)
}

// Write implements [net.Conn].
func (c *connection) Write(p []byte) (int, error) {
	if c.gathered != nil {
		return c.gathered.Write(p)
	}
	if !c.asked.Load() {
		c.all.update(c, c.greet)
	}
	return c.send(p)
}

// send writes to the client. The end of an answer is written when its handler has returned, and may
// take as long as the client takes to read.
func (c *connection) send(p []byte) (int, error) {
	c.writing.Add(1)
	defer c.writing.Add(-1)
	return c.Conn.Write(p)
}

// readLast reads from an expired connection once more, because bytes may have come of which the
// server has not read any yet: on a busy machine, it may be late. A connection without any is closed.
func (c *connection) readLast(p []byte) (n int, err error) {
	if c.socket != nil {
		n, err = readNow(c.socket, p) // a read with a deadline may find that it has passed, and read nothing
	} else {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lastLook))
		n, err = c.Conn.Read(p)
	}
	if n == 0 {
		c.hangUp()
	}
	return n, err
}

// hasExpired reports whether a read failed because the connection expired.
func (c *connection) hasExpired(err error) bool {
	if !c.all.stopping.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
		return false // net/http ends a read of each request by a deadline
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	return c.expired
}

// revive lets a connection go on on which a request arrives after all. The caller holds all.mu.
func (c *connection) revive() {
	if c.expired {
		c.expired = false
		_ = c.Conn.SetReadDeadline(time.Time{}) // net/http sets its own
	}
}

// greet notes that the server says something before the first request: what came so far was of TLS,
// or of HTTP/2. The caller holds all.mu.
func (c *connection) greet() {
	c.forgetHead()
	c.greeted, c.reply = true, 0
}

// countHead counts bytes that were read, if they are of a head.
func (c *connection) countHead(read []byte) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	bytes := len(read)
	c.framing.add(read)
	c.revive()
	if c.greeted && !c.asked.Load() {
		if c.reply += bytes; c.reply <= lastFlight {
			return
		}
	}
	c.idle = c.idle && c.http2 // frames of HTTP/2 need not be of a request
	switch {
	case c.complete:
		c.early += bytes
	case c.requests > 0:
	case c.head == nil:
		c.head = c.all.arriving.add(&c.sends, headCost*bytes, c.hangUp)
	default:
		c.all.arriving.grow(c.head, headCost*bytes)
	}
}

// countEarly counts what came of a request before the server was ready for it. Over TLS, that can be
// all that its client has sent. The caller holds all.mu.
func (c *connection) countEarly() {
	if c.complete && c.early > 0 {
		c.idle = false
		c.head = c.all.arriving.add(&c.sends, headCost*c.early, c.hangUp)
	}
	c.complete, c.early = false, 0
}

// forgetHead stops counting the head. The caller holds all.mu.
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

// hangUp closes the connection below TLS: the closing message of TLS would block on a client that
// does not read. The server notices, and closes the rest.
func (c *connection) hangUp() {
	if c.Conn != nil {
		_ = c.Conn.Close() // the requests on it fail either way
	}
}
