package roundtrip

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"time"
)

// headLimit is the largest head of an answer in bytes, informational heads before it included.
const headLimit = 1 << 20

// usualBuffer is the size in bytes of a buffer that the settings give none.
const usualBuffer = 4 << 10

// errUnsent is the error of a connection that took nothing of a request, since it was closed while
// it was idle.
var errUnsent = errors.New("the connection was closed while it was idle")

// place is where a connection leads.
type place struct {
	secure  bool
	address string // host and port
}

// conn is a connection. It makes one request at a time.
type conn struct {
	to        place
	timeout   time.Duration              // for the head of an answer, 0 for none
	free      func(c *conn, usable bool) // takes the connection back after a request
	raw       net.Conn
	below     *below   // over raw; nil without TLS
	stream    net.Conn // over below; raw without TLS
	quiet     func() bool
	reader    *bufio.Reader
	writer    *bufio.Writer
	idleSince time.Time // zero before the first answer

	deadline time.Time
	written  int64 // bytes of the request
	readable int64 // how many bytes of the answer may still come
}

// below is the connection below TLS. While it is shut, it has nothing to read.
type below struct {
	net.Conn
	shut bool
}

// Read implements [io.Reader].
func (b *below) Read(p []byte) (int, error) {
	if b.shut {
		return 0, os.ErrDeadlineExceeded // by which TLS is not broken
	}
	return b.Conn.Read(p)
}

// silent reports whether an idle connection is open and nothing came that no request asked for. That
// may have come with the last answer, and be in TLS already.
func (c *conn) silent() bool {
	if !c.quiet() {
		return false
	}
	if c.below == nil {
		return true
	}
	c.below.shut = true
	_, err := c.stream.Read(make([]byte, 1))
	c.below.shut = false
	return errors.Is(err, os.ErrDeadlineExceeded)
}

// readingFrom reads from a connection what may still come.
type readingFrom struct{ *conn }

// Read implements [io.Reader].
func (c readingFrom) Read(p []byte) (int, error) {
	if c.readable <= 0 {
		return 0, errors.New("the head of the answer is too large")
	}
	n, err := c.stream.Read(p[:min(int64(len(p)), c.readable)])
	c.readable -= int64(n)
	return n, err
}

// writingTo writes to a connection and counts what was written.
type writingTo struct{ *conn }

// Write implements [io.Writer].
func (c writingTo) Write(p []byte) (int, error) {
	n, err := c.stream.Write(p)
	c.written += int64(n)
	return n, err
}

// exchange makes a request, and returns its answer once that has a head. The connection is closed
// when the context ends before the answer was read.
func (c *conn) exchange(request *http.Request) (*http.Response, error) {
	ctx, used := request.Context(), !c.idleSince.IsZero()
	stop := context.AfterFunc(ctx, c.close)
	response, err := c.converse(request, used)
	if err == nil {
		b := &body{ReadCloser: response.Body, conn: c, stop: stop, last: response.Close}
		if response.Body == http.NoBody {
			b.end(true)
		}
		response.Body = b
		return response, nil
	}
	stop()
	c.close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if used && c.written == 0 {
		return nil, errUnsent
	}
	return nil, err
}

// converse writes a request and reads the head of its answer.
func (c *conn) converse(request *http.Request, used bool) (*http.Response, error) {
	c.written, c.readable = 0, headLimit
	if err := c.limit(); err != nil {
		return nil, err
	}
	if used && !c.silent() {
		return nil, errUnsent
	}
	if err := errors.Join(write(c.writer, request), c.writer.Flush()); err != nil {
		return nil, err
	}
	response, err := c.head(request)
	if err != nil {
		return nil, err
	}
	c.readable = math.MaxInt64
	if length := response.ContentLength; length < 0 || length > int64(c.reader.Buffered()) {
		c.deadline = time.Time{}
		_ = c.raw.SetDeadline(c.deadline) // reading the body tells what is wrong
	}
	return response, nil
}

// limit sets when the head of the answer must have come. A deadline that leaves four fifths of the
// time is kept: setting one has its price.
func (c *conn) limit() error {
	now := time.Now()
	if c.timeout == 0 || c.deadline.Sub(now) >= c.timeout*4/5 {
		return nil
	}
	c.deadline = now.Add(c.timeout)
	return c.raw.SetDeadline(c.deadline)
}

// head reads the head of the answer, after any that are informational.
func (c *conn) head(request *http.Request) (*http.Response, error) {
	for {
		response, err := readHead(c.reader, request)
		if err != nil {
			return nil, err
		}
		if response.StatusCode == http.StatusSwitchingProtocols {
			response.Close = true // what follows is no HTTP
			return response, nil
		}
		if response.StatusCode >= 200 {
			return response, nil
		}
	}
}

func (c *conn) close() { _ = c.raw.Close() }

// body is the body of an answer. When it was read, its connection is free for another request.
type body struct {
	io.ReadCloser
	conn *conn // nil after the end
	stop func() bool
	last bool // the connection is not used again
	err  error
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.err = err
		b.end(err == io.EOF)
	}
	return n, err
}

// Close implements [io.Closer].
func (b *body) Close() error {
	if b.err == nil {
		b.err = http.ErrBodyReadAfterClose
	}
	b.end(false)
	return nil
}

// end gives the connection back. It can be used again if the answer was read whole, and nothing
// follows it.
func (b *body) end(whole bool) {
	if b.conn == nil {
		return
	}
	c := b.conn
	b.conn = nil
	c.free(c, b.stop() && whole && !b.last && c.reader.Buffered() == 0)
}
