package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/talkback/talkback/internal/task"
)

// Defaults of the bounds of [NewConnections].
const (
	// DefaultMaxArriving is 32 MiB: 300 of the largest requests, or some thirteen hundred small ones.
	DefaultMaxArriving = 32 << 20
	// DefaultMaxConnections is enough for proxies, which share theirs, and for a shop's browsers
	// without a proxy.
	DefaultMaxConnections = 1024
)

// fieldCost is how many bytes of memory a header field takes beside its own.
const fieldCost = 96

// headCost is how many bytes of memory each byte of a request's head takes while it arrives, if its
// fields are as short as can be, of six bytes.
const headCost = fieldCost / 6

// Connections bounds what clients occupy before the server processes their requests: open
// connections, and bytes of requests that are still arriving. New connections and bytes are never
// refused. Connections that have been unused for longest are closed to make room for them. Safe for
// concurrent use.
type Connections struct {
	max      int
	arriving *budget

	stopping atomic.Bool     // see Stop
	draining context.Context // ends with drain, see Drain
	drain    context.CancelFunc

	mu   sync.Mutex
	open map[*connection]struct{}
	held int // requests, see hold
}

// NewConnections bounds the number of open connections, and the bytes of requests that are still
// arriving. Zero means DefaultMaxConnections and DefaultMaxArriving.
func NewConnections(maxOpen, maxArriving int) *Connections {
	c := &Connections{
		max:      cmp.Or(maxOpen, DefaultMaxConnections),
		arriving: newBudget(cmp.Or(maxArriving, DefaultMaxArriving)),
		open:     map[*connection]struct{}{},
	}
	c.draining, c.drain = context.WithCancel(context.Background())
	return c
}

// Bound prepares a server for these bounds, and returns the listener to serve on in place of the
// given one. Bounds on answers need these connections in the Options of the server's handler, too.
func (c *Connections) Bound(server *http.Server, listener net.Listener) net.Listener {
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.last(w) // if the server drains
		by := c.of(r.Context())
		by.update(func() {
			by.busy, by.http2 = true, r.ProtoMajor == 2
			by.forgetHead()
		})
		next.ServeHTTP(w, r)
	})
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

// leastUsed returns the connection to close: one without a request, else one that sends or reads.
// Among these, it is the one on which nothing has happened for longest. Connections whose requests
// are being processed stay. If that leaves no other, it is the one that was just added.
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

// changed is the ConnState hook of the server. A connection is idle once its answer is completely
// sent. An HTTP/2 connection is idle before its first request, too.
func (c *Connections) changed(conn net.Conn, state http.ConnState) {
	if known := connectionUnder(conn); known != nil && state == http.StateIdle {
		known.update(func() {
			known.http2 = known.http2 || !known.busy
			known.busy = false
			known.forgetHead()
		})
	}
}

// update changes the state of a connection, and notes that something happened on it now.
func (c *connection) update(change func()) {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	change()
	c.since = time.Now()
}

// last marks an answer as the last of its connection, if the server drains. net/http sends GOAWAY
// in place of the header over HTTP/2.
func (c *Connections) last(w http.ResponseWriter) {
	if c.draining.Err() != nil {
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

	sends, unread client // what the client sends, and what it has not read yet

	// Guarded by all.mu.
	http2   bool
	busy    bool // the head of a request has arrived, and its answer is not completely sent
	working int  // requests that are being processed or wait for their turn
	head    *held
	since   time.Time
	refused time.Time // when a request was last refused for the load
	expired bool      // the server is stopping and closes the connection, unless a request is arriving
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
	case c.busy || c.head != nil:
		return moving
	}
	return unused
}

// lastLook is how long an expired connection is read once more.
const lastLook = 100 * time.Millisecond

// Read implements [net.Conn]. It reads an expired connection once more: on a busy machine, bytes
// may have arrived that the server has not seen yet.
//
// Bytes count as those of a head unless there is a request. Bodies are counted where they are read.
// A head of HTTP/2 is as small as the connection's bounds on frames and headers. The bytes of a TLS
// handshake count until the first request: the timeout of a head covers both.
func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && c.hasExpired() {
		_ = c.Conn.SetReadDeadline(time.Now().Add(lastLook)) // it fails once the connection is closed
		n, err = c.Conn.Read(p)
	}
	if n == 0 {
		return n, err
	}
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if c.expired {
		c.expired = false
		_ = c.Conn.SetReadDeadline(time.Time{}) // net/http sets its own
	}
	switch {
	case c.busy || c.http2:
	case c.head == nil:
		c.head = c.all.arriving.add(&c.sends, headCost*n, c.hangUp)
	default:
		c.all.arriving.grow(c.head, headCost*n)
	}
	return n, err
}

// hasExpired reports whether expireQuiet set the deadline of a connection, not net/http.
func (c *connection) hasExpired() bool {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	return c.expired
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

const (
	// quietTime is how long a connection must have been unused before the server, at its end, closes
	// it. A client that uses a connection often has got an answer by then, which announces the end.
	quietTime = time.Second
	// lookEvery is the time between two looks for quiet connections.
	lookEvery = 20 * time.Millisecond
)

// Stop announces the end of the server: from now on it is not ready. Requests are answered as
// before.
func (c *Connections) Stop() { c.stopping.Store(true) }

// Drain waits until all connections have ended: after their next answer, which says so, over HTTP/2
// by GOAWAY, or once they are quiet. Call it once no connections are accepted any more: clients
// that connect anew are refused by then, and none is in the kernel's queue. It returns the
// context's error if that ends before.
//
// [http.Server.Shutdown] closes connections while a request may be arriving on them, and drops
// requests that it has just read. So call it after Drain, which leaves it none.
func (c *Connections) Drain(ctx context.Context) error {
	c.Stop()
	c.drain()
	for c.expireQuiet(time.Now()) > 0 {
		if err := task.Wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}

// expireQuiet lets quiet connections end, and returns how many connections are open.
func (c *Connections) expireQuiet(now time.Time) (open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		open++
		if conn.use() == unused && now.Sub(conn.since) >= quietTime && !conn.expired {
			conn.expired = true
			_ = conn.Conn.SetReadDeadline(now) // it fails once the connection is closed
		}
	}
	return open
}

// budget counts the bytes that clients make the server hold, and keeps them below a bound: answers
// that they have not read, or requests that they have not sent completely.
//
// New bytes are never refused. To make room for them, the budget gives up the clients that hold
// most for longest, which read or send slowly or not at all. Safe for concurrent use.
type budget struct {
	max int // bytes
	now func() time.Time

	mu    sync.Mutex
	total int
	held  map[*held]struct{}
}

// client is what a client holds of a budget. The zero value holds nothing.
type client struct{ bytes int } // guarded by the budget

// held is an answer or a request in transit.
type held struct {
	by     *client
	bytes  int
	since  time.Time
	giveUp func() // frees the bytes soon; called with the budget locked, so it must not block
}

func newBudget(limit int) *budget {
	return &budget{max: limit, now: time.Now, held: map[*held]struct{}{}}
}

// clientShare is the divisor of the budget for one client: a client that holds more than
// 1/clientShare of it has its further requests refused. A proxy may send thousands of clients'
// requests over one connection, and reads their answers as they come.
const clientShare = 8

// full reports whether a client has to read before it may ask for more.
func (b *budget) full(of *client) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return of.bytes > b.max/clientShare
}

// add counts what a client holds until it is removed. It returns nil when that client itself was
// given up to make room.
func (b *budget) add(by *client, size int, giveUp func()) *held {
	b.mu.Lock()
	defer b.mu.Unlock()
	added := &held{by: by, since: b.now(), giveUp: giveUp}
	b.held[added] = struct{}{}
	b.change(added, size)
	if !b.makeRoom(added) {
		return nil
	}
	return added
}

// grow counts further bytes. It reports whether they are still held: their client may have been
// given up before, or to make room for them.
func (b *budget) grow(h *held, size int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.holds(h) {
		return false
	}
	b.change(h, size)
	return b.makeRoom(h)
}

// makeRoom gives up clients until the rest fits, or only the latest is left. It reports whether the
// latest is left.
func (b *budget) makeRoom(latest *held) bool {
	for b.total > b.max {
		slowest := b.slowest(latest)
		if slowest == nil {
			break
		}
		for h := range b.held { // everything that this client holds
			if h.by == slowest {
				b.forget(h)
				h.giveUp()
			}
		}
	}
	return b.holds(latest)
}

func (b *budget) holds(h *held) bool {
	_, there := b.held[h]
	return there
}

// slowest returns the client with the largest sum of bytes times time, nil if there is only the
// latest. Bytes alone would hit the client that reads a large answer, time alone the one that reads
// a small answer over a bad line.
func (b *budget) slowest(latest *held) *client {
	now := b.now()
	costs := map[*client]int{}
	for h := range b.held {
		if h != latest {
			costs[h.by] += h.cost(now)
		}
	}
	var worst *client
	for by, cost := range costs {
		if worst == nil || cost > costs[worst] {
			worst = by
		}
	}
	return worst
}

// cost returns bytes times milliseconds.
func (h *held) cost(now time.Time) int {
	return h.bytes * (int(now.Sub(h.since)/time.Millisecond) + 1)
}

// remove stops counting an answer or a request that is complete. It reports false if it was given
// up before.
func (b *budget) remove(h *held) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.forget(h)
}

func (b *budget) forget(h *held) (there bool) {
	if !b.holds(h) {
		return false
	}
	delete(b.held, h)
	b.change(h, -h.bytes)
	return true
}

// change updates the sums.
func (b *budget) change(h *held, size int) {
	h.bytes += size
	b.total += size
	h.by.bytes += size
}
