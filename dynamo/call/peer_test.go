package call

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// peer is a table as a client sees it: connections, and bytes on them. The connections are pipes,
// so it works in a synctest bubble, where timeouts take no time. A test that leaves a goroutine
// behind then fails by itself.
type peer struct {
	t *testing.T
	// answer writes the answer of a request to its connection, and reports whether that stays open.
	answer func(*received) bool
	// clock is how far the table's clock is ahead.
	clock time.Duration
	// deaf makes the peer never read.
	deaf bool
	// dialing is called before each connection is made; nil does nothing.
	dialing func(ctx context.Context) error

	room   *answers // of its client
	mu     sync.Mutex
	calls  int
	dialed []string // addresses
	open   int      // connections
	writes int      // of clients
	broken bool     // the next write fails
}

// received is a request that arrived.
type received struct {
	*http.Request
	number int // from 1
	conn   net.Conn
}

// dial connects to the peer. It has the type of http.Transport.DialContext.
func (p *peer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	if p.dialing != nil {
		if err := p.dialing(ctx); err != nil {
			return nil, err
		}
	}
	client, server := net.Pipe()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dialed = append(p.dialed, address)
	p.open++
	conn := &counting{Conn: client, peer: p, closed: make(chan struct{})}
	go p.serve(server, conn.closed)
	return conn, nil
}

// counting is the client's end of a connection. It counts writes.
type counting struct {
	net.Conn
	peer   *peer
	closed chan struct{}
	once   sync.Once
}

// Write implements [net.Conn].
func (c *counting) Write(b []byte) (int, error) {
	c.peer.mu.Lock()
	broken := c.peer.broken
	c.peer.writes, c.peer.broken = c.peer.writes+1, false
	c.peer.mu.Unlock()
	if broken {
		return 0, io.ErrClosedPipe
	}
	return c.Conn.Write(b)
}

// Close implements [net.Conn].
func (c *counting) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// serve answers the requests of a connection until the client has closed it.
func (p *peer) serve(conn net.Conn, closed <-chan struct{}) {
	defer func() {
		_ = conn.Close()
		p.mu.Lock()
		p.open--
		p.mu.Unlock()
	}()
	if p.deaf {
		<-closed
		return
	}
	for reader := bufio.NewReader(conn); ; {
		request, err := http.ReadRequest(reader)
		if err != nil {
			return // closed by the client
		}
		if _, err := io.Copy(io.Discard, request.Body); err != nil {
			return
		}
		p.mu.Lock()
		p.calls++
		r := &received{Request: request, number: p.calls, conn: conn}
		p.mu.Unlock()
		if !p.answer(r) {
			return
		}
	}
}

// seen returns the numbers of requests so far, of open connections, and of writes so far.
func (p *peer) seen() (requests, open, writes int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls, p.open, p.writes
}

// peerHost is the host that clients connect to.
const peerHost = "table.test:8000"

// withPeer runs a test with a peer, in a bubble. At its end, none of its calls may have left
// anything behind.
func withPeer(t *testing.T, test func(t *testing.T, p *peer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &peer{t: t}) })
}

// options returns the options of a client of the program that connects to the peer.
func (p *peer) options() dynamodb.Options {
	options := NewLocalClient("http://" + peerHost).Options()
	options.HTTPClient = directly(httpClient().WithTransportOptions(func(t *http.Transport) { t.DialContext = p.dial }))
	options.Credentials = credentials.NewStaticCredentialsProvider("key", "very-secret", "session+token")
	options.APIOptions = nil
	p.room = newAnswers()
	p.room.of(&options)
	p.t.Cleanup(p.atRest)
	return options
}

// client returns a client of the program that connects to the peer.
func (p *peer) client() *dynamodb.Client { return dynamodb.New(p.options()) }

// atRest fails the test if its calls left room taken, or a connection in use. Idle connections are
// closed after a while.
func (p *peer) atRest() {
	if !p.room.small.TryAcquire(smallRoom) || !p.room.large.TryAcquire(largeRoom) {
		p.t.Error("room for a body is still taken")
	}
	time.Sleep(10 * time.Minute)
	synctest.Wait()
	if _, open, _ := p.seen(); open > 0 {
		p.t.Errorf("%d connections are still open", open)
	}
}

// says answers with a status, a body and header fields.
func (p *peer) says(r *received, status int, body string, fields ...string) bool {
	return r.write(p.head(status, len(body), fields...) + body)
}

// ok answers as AWS does, with a checksum.
func (p *peer) ok(r *received, body string) bool {
	return p.says(r, http.StatusOK, body, fmt.Sprintf("x-amz-crc32: %d", crc32.ChecksumIEEE([]byte(body))))
}

// head returns the head of an answer. A negative length is left out.
func (p *peer) head(status, length int, fields ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	fmt.Fprintf(&b, "Date: %s\r\n", time.Now().Add(p.clock).UTC().Format(http.TimeFormat))
	b.WriteString("Content-Type: application/x-amz-json-1.0\r\nx-amzn-RequestId: REQUEST\r\n")
	if length >= 0 {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", length)
	}
	for _, field := range fields {
		b.WriteString(field + "\r\n")
	}
	b.WriteString("\r\n")
	return b.String()
}

// write writes bytes as they are. It returns true.
func (r *received) write(text string) bool {
	_, _ = io.Copy(r.conn, bytes.NewReader([]byte(text))) // the client may be gone
	return true
}

// hold waits until the client closes the connection. It returns false.
func (r *received) hold() bool {
	_, _ = io.Copy(io.Discard, r.conn)
	return false
}

// operation returns the operation of the request, such as Query.
func (r *received) operation() string {
	_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	return operation
}
