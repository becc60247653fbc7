package overload

import (
	"fmt"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// patience is how long clients wait for an answer. A later one is useless.
const patience = time.Second

// pause is how long a client waits after a refusal before it asks again. Without a pause, few
// clients could send more than a server can refuse.
const pause = 10 * time.Millisecond

// generator sends requests over many connections and reads their answers, from one thread that asks
// the kernel which connections have something to read. A goroutine for each request, and the client
// of net/http, would take four times the processor time, which is the server's where both share one
// machine. Its methods are called by one goroutine at a time.
type generator struct {
	patience time.Duration

	epoll    int
	events   []unix.EpollEvent
	into     []byte
	open     map[int]*connection // by descriptor
	began    time.Time
	underWay []sending // in the order in which they were due; some may have ended
}

// target is a server that requests are sent to.
type target struct {
	address unix.SockaddrInet4
	head    string // of each request, up to the length of its body
	bodies  func() string
	idle    []*connection // the last one was used last
}

// flow is requests to a server in one run.
type flow struct {
	*target
	due   []time.Duration // since the run began, in order
	again time.Duration   // clients that have their answer ask again until then
	rude  bool            // whether its clients skip the pause after a refusal
	sent  int
	outcomes
}

// connection is one connection to a target.
type connection struct {
	descriptor int
	to         *target
	made       bool // whether it is open; otherwise it is being opened
	used       int  // number of its requests so far
	asking     *flow
	due        time.Duration
	request    []byte // the request that waits until the connection is open
	got        []byte // what has arrived of the answer
}

// sending is a request that may be under way.
type sending struct {
	on   *connection
	used int // used of the connection, when it was sent
}

func (s sending) ended() bool { return s.on.asking == nil || s.on.used != s.used }

func newGenerator(t *testing.T) *generator {
	t.Helper()
	epoll := must.Get(unix.EpollCreate1(unix.EPOLL_CLOEXEC))(t)
	g := &generator{patience: patience, epoll: epoll, events: make([]unix.EpollEvent, 256), into: make([]byte, 256<<10), open: map[int]*connection{}}
	t.Cleanup(func() {
		for _, c := range g.open {
			g.close(c)
		}
		_ = unix.Close(epoll) // nothing is lost
	})
	return g
}

// to returns the target at a URL, which gets the bodies in turn. Clients share its connections,
// like those of a proxy.
func to(t *testing.T, url string, bodies func() string) *target {
	t.Helper()
	host, path, _ := strings.Cut(strings.TrimPrefix(url, "http://"), "/")
	address := must.Get(netip.ParseAddrPort(host))(t)
	return &target{
		address: unix.SockaddrInet4{Port: int(address.Port()), Addr: address.Addr().As4()},
		head:    fmt.Sprintf("POST /%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: overload\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Type: application/json\r\nContent-Length: ", path, host),
		bodies:  bodies,
	}
}

// run sends all requests of the flows, each when it is due whatever happens to the others, and
// returns when all have ended.
func (g *generator) run(flows ...*flow) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// The kernel may wake others later by 50 us, to save power.
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := g.turn(0); err != nil { // connections closed since
		return err
	}
	g.began = time.Now()
	for {
		g.giveUp()
		next, more, err := g.send(flows)
		if err != nil {
			return err
		}
		if end, any := g.nextEnd(); any && (!more || end < next) {
			next, more = end, true
		}
		if !more {
			return nil
		}
		if err := g.turn(next - g.now()); err != nil {
			return err
		}
	}
}

func (g *generator) now() time.Duration { return time.Since(g.began) }

// send sends all due requests, and returns when the next is due, if there is one.
func (g *generator) send(flows []*flow) (next time.Duration, more bool, err error) {
	for _, f := range flows {
		for f.sent < len(f.due) && f.due[f.sent] <= g.now() {
			if err := g.ask(f, f.due[f.sent]); err != nil {
				return 0, false, err
			}
			f.sent++
		}
		if f.sent < len(f.due) && (!more || f.due[f.sent] < next) {
			next, more = f.due[f.sent], true
		}
	}
	return next, more, nil
}

// ask sends a request over the connection that was used last, or over a new one.
func (g *generator) ask(f *flow, due time.Duration) (err error) {
	var c *connection
	if n := len(f.idle); n > 0 {
		c, f.idle = f.idle[n-1], f.idle[:n-1]
	} else if c, err = g.dial(f.target); err != nil {
		return err
	}
	body := f.bodies()
	c.request = append(c.request[:0], f.head...)
	c.request = append(strconv.AppendInt(c.request, int64(len(body)), 10), "\r\n\r\n"...)
	c.request = append(c.request, body...)
	c.asking, c.due, c.got = f, due, c.got[:0]
	c.used++
	g.underWay = append(g.underWay, sending{c, c.used})
	if c.made {
		g.write(c)
	}
	return nil
}

// write sends the request of a connection. The kernel takes a short one as a whole or not at all.
func (g *generator) write(c *connection) {
	n, err := unix.Write(c.descriptor, c.request)
	c.asking.late = append(c.asking.late, g.now()-c.due)
	if err != nil || n < len(c.request) {
		g.fail(c)
	}
}

// giveUp ends requests whose clients have waited long enough.
func (g *generator) giveUp() {
	for {
		if end, any := g.nextEnd(); !any || end > g.now() {
			return
		}
		g.fail(g.underWay[0].on)
	}
}

// nextEnd returns when the client of the oldest request under way gives up, if there is one.
func (g *generator) nextEnd() (end time.Duration, any bool) {
	for len(g.underWay) > 0 && g.underWay[0].ended() {
		g.underWay = g.underWay[1:]
	}
	if len(g.underWay) == 0 {
		return 0, false
	}
	return g.underWay[0].on.due + g.patience, true
}

// turn waits at most the given time for bytes to arrive, and reads them.
func (g *generator) turn(longest time.Duration) error {
	n, err := unix.EpollWait(g.epoll, g.events, 0)
	if n == 0 && longest > 0 {
		// It takes nanoseconds, where EpollWait takes milliseconds.
		until := unix.NsecToTimespec(longest.Nanoseconds())
		if n, err = unix.Ppoll([]unix.PollFd{{Fd: int32(g.epoll), Events: unix.POLLIN}}, &until, nil); n > 0 {
			n, err = unix.EpollWait(g.epoll, g.events, 0)
		}
	}
	if err != nil && err != unix.EINTR {
		return err
	}
	for _, event := range g.events[:max(n, 0)] {
		if c := g.open[int(event.Fd)]; c != nil && !c.made {
			g.opened(c)
		} else if c != nil {
			g.read(c)
		}
	}
	return nil
}

// dial begins to open a connection.
func (g *generator) dial(to *target) (*connection, error) {
	descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	c := &connection{descriptor: descriptor, to: to}
	g.open[descriptor] = c
	if err := unix.Connect(descriptor, &to.address); err != nil && err != unix.EINPROGRESS {
		return nil, err
	}
	return c, unix.EpollCtl(g.epoll, unix.EPOLL_CTL_ADD, descriptor, &unix.EpollEvent{Events: unix.EPOLLOUT, Fd: int32(descriptor)})
}

// opened sends the request that waits for a connection, if one does.
func (g *generator) opened(c *connection) {
	failed, err := unix.GetsockoptInt(c.descriptor, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && failed == 0 {
		err = unix.EpollCtl(g.epoll, unix.EPOLL_CTL_MOD, c.descriptor, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(c.descriptor)})
	}
	c.made = true
	switch {
	case err != nil || failed != 0:
		g.fail(c)
	case c.asking != nil:
		g.write(c)
	default:
		c.to.idle = append(c.to.idle, c)
	}
}

// read reads the bytes of an answer that have arrived. If they are malformed, the client gives up.
func (g *generator) read(c *connection) {
	n, err := unix.Read(c.descriptor, g.into)
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return
	case err != nil || c.asking == nil: // closed, or an answer without a request
		g.fail(c)
		return
	}
	c.got = append(c.got, g.into[:n]...)
	if status, last, err := answerOf(c.got, n == 0); err == nil {
		g.answered(c, status, last)
	} else if n == 0 {
		g.fail(c)
	}
}

// answered notes the answer of a connection, which is then free for the next request.
func (g *generator) answered(c *connection, status int, last bool) {
	c.asking.answered(status, g.now()-c.due)
	if status == http.StatusOK || c.asking.rude {
		g.ended(c, 0)
	} else {
		g.ended(c, pause)
	}
	if last {
		g.close(c)
	} else {
		c.to.idle = append(c.to.idle, c)
	}
}

// fail closes a connection. The request that it may have stays unanswered.
func (g *generator) fail(c *connection) {
	if c.asking != nil {
		c.asking.failed++
		g.ended(c, pause)
	} else if at := slices.Index(c.to.idle, c); at >= 0 {
		c.to.idle = slices.Delete(c.to.idle, at, at+1)
	}
	g.close(c)
}

// ended notes that a request has ended. Its client may ask again after a while.
func (g *generator) ended(c *connection, after time.Duration) {
	f := c.asking
	c.asking = nil
	if next := g.now() + after; next < f.again {
		at, _ := slices.BinarySearch(f.due[f.sent:], next)
		f.due = slices.Insert(f.due, f.sent+at, next)
	}
}

func (g *generator) close(c *connection) {
	delete(g.open, c.descriptor)
	_ = unix.Close(c.descriptor) // nothing is lost
}

// direct returns the same target for clients with connections of their own.
func (t *target) direct() *target {
	return &target{address: t.address, head: strings.Replace(t.head, "X-Forwarded-For: 192.0.2.1\r\n", "", 1), bodies: t.bodies}
}

// prepare opens connections, so that a burst need not wait for them.
func (g *generator) prepare(to *target, connections int) error {
	for range connections {
		if _, err := g.dial(to); err != nil {
			return err
		}
	}
	for len(to.idle) < connections {
		if err := g.turn(time.Second); err != nil {
			return err
		}
	}
	return nil
}
