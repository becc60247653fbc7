package roundtrip

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"time"
)

// headLimit is the largest head of an answer in bytes, informational heads before it included.
const headLimit = 1 << 20

// usualBuffer is the size in bytes of a buffer that the settings give none.
const usualBuffer = 4 << 10

// errUnsent is the error of a connection that took nothing of a request, since it was closed while
// it was idle.
var errUnsent = errors.New("the connection was closed while it was idle")

// conn is a connection. It makes one request at a time.
type conn struct {
	transport *Transport
	to        place
	raw       net.Conn
	stream    net.Conn // over raw; the same without TLS
	quiet     func() bool
	reader    *bufio.Reader
	writer    *bufio.Writer
	idleSince time.Time // zero before the first answer

	written  int64 // bytes of the request
	readable int64 // how many bytes of the answer may still come
}

func newConn(t *Transport, to place, raw, stream net.Conn) *conn {
	c := &conn{transport: t, to: to, raw: raw, stream: stream, quiet: quietOf(raw)}
	c.reader = bufio.NewReaderSize(readingFrom{c}, cmp.Or(t.under.ReadBufferSize, usualBuffer))
	c.writer = bufio.NewWriterSize(writingTo{c}, cmp.Or(t.under.WriteBufferSize, usualBuffer))
	return c
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
	if timeout := c.transport.under.ResponseHeaderTimeout; timeout > 0 {
		if err := c.raw.SetDeadline(time.Now().Add(timeout)); err != nil {
			return nil, err
		}
	}
	if used && !c.quiet() {
		return nil, errUnsent
	}
	if err := errors.Join(request.Write(c.writer), c.writer.Flush()); err != nil {
		return nil, err
	}
	response, err := c.head(request)
	if err != nil {
		return nil, err
	}
	c.readable = math.MaxInt64
	if length := response.ContentLength; length < 0 || length > int64(c.reader.Buffered()) {
		_ = c.raw.SetDeadline(time.Time{}) // reading the body tells what is wrong
	}
	return response, nil
}

// head reads the head of the answer, after any that are informational.
func (c *conn) head(request *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, request)
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

// end frees the connection if it can be used again, or else closes it.
func (b *body) end(whole bool) {
	if b.conn == nil {
		return
	}
	c := b.conn
	b.conn = nil
	if b.stop() && whole && !b.last && c.reader.Buffered() == 0 {
		c.transport.idle.put(c)
	} else {
		c.close()
	}
	c.transport.room.Release(1)
}
