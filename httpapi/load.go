package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/talkback/talkback/httpapi/concurrency"
)

// perRequest is what a request occupies while it arrives, in addition to its head and body: its
// goroutine and its buffers, in bytes.
const perRequest = 24 << 10

// firstRead is the most that is taken at once for a body whose length was announced, in bytes. The
// query of a page fits, and perRequest covers it.
const firstRead = 4 << 10

// refuseExcess refuses a request that the gate has left to net/http, before anything else is made for
// it, while others are refused: what it costs, those that are answered lack. Over HTTP/1.1, the bound on
// connections bounds what such requests hold. Those over HTTP/2 go on to where they are counted.
func refuseExcess(maxBody int, limiter *concurrency.Limiter, connections *Connections) func(http.Handler) http.Handler {
	bodies := bodies{maxBody, connections}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ProtoMajor != 1 || !limiter.Refuse() {
				next.ServeHTTP(w, r)
				return
			}
			if r.Method == http.MethodPost {
				bodies.forget(r)
			}
			overloaded.write(w)
		})
	}
}

// withBody reads the body of a POST before the request takes anything that others wait for. A
// client that sends one byte at a time then holds no place among the requests in flight, and the
// time of its operation does not run yet. It holds memory only, which connections bounds.
func withBody(limit int, connections *Connections) func(http.Handler) http.Handler {
	bodies := bodies{limit, connections}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				next.ServeHTTP(w, r)
				return
			}
			body, refused := bodies.read(w, r)
			if refused != nil {
				if r.ProtoMajor == 1 {
					w.Header().Set("Connection", "close") // or the server would read the rest
				}
				refused.write(w)
				return
			}
			requestOf(r.Context()).body = body
			next.ServeHTTP(w, r)
		})
	}
}

// bodies reads the bodies of requests.
type bodies struct {
	limit       int // bytes of each
	connections *Connections
}

// read reads a body up to the limit. It does not begin to read one whose announced length is above
// the limit. Memory of long ones grows with the bytes that arrive, whatever length was announced.
func (b bodies) read(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.ContentLength > int64(b.limit) {
		return nil, bodyTooLarge.with(b.limit)
	}
	arriving := b.connections.arriving
	stop := func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // a test's recorder has none
	}
	connection := b.connections.of(r.Context())
	request := arriving.add(&connection.sends, perRequest+headBytes(r), stop)
	if request == nil {
		return nil, tooSlow
	}
	connection.arrives(r)
	body, err := readAll(counted{b.bounded(w, r), arriving, request}, r.ContentLength)
	var tooLarge *http.MaxBytesError
	switch kept := arriving.remove(request); {
	case !kept:
		return nil, tooSlow
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge.with(b.limit)
	case err != nil:
		return nil, badEnd
	}
	b.connections.bodyRead(connection)
	return body, nil
}

// forget reads a body of a request that is refused. What is beyond the limit is left to net/http.
func (b bodies) forget(r *http.Request) {
	connection := b.connections.of(r.Context())
	connection.arrives(r)
	if _, err := io.CopyN(io.Discard, r.Body, int64(b.limit)+1); errors.Is(err, io.EOF) {
		b.connections.bodyRead(connection)
	}
}

// readAll reads a body. A short one has a buffer of its announced length. A buffer that doubles would
// hold up to twice what arrived of a long one, so that grows as io.ReadAll has it grow.
func readAll(body io.Reader, announced int64) ([]byte, error) {
	if announced < 0 || announced > firstRead {
		return io.ReadAll(body)
	}
	short := make([]byte, 0, announced+1) // one more, so that a read can find the end
	for len(short) < cap(short) {
		n, err := body.Read(short[len(short):cap(short)])
		short = short[:len(short)+n]
		switch {
		case errors.Is(err, io.EOF):
			return short, nil
		case err != nil:
			return nil, err
		}
	}
	return nil, io.ErrShortBuffer // of a body that is longer than was announced, which net/http rules out
}

// bounded returns the body of a request whose announced length is within the limit. net/http reads
// no more than was announced.
func (b bodies) bounded(w http.ResponseWriter, r *http.Request) io.Reader {
	if r.ContentLength >= 0 {
		return r.Body
	}
	return http.MaxBytesReader(w, r.Body, int64(b.limit))
}

// headBytes returns about how many bytes the head of a request occupies.
func headBytes(r *http.Request) int {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value)
		}
	}
	return size
}

// counted is a body whose bytes are counted as they are read.
type counted struct {
	io.Reader
	budget  *budget
	request *held
}

// Read implements [io.Reader]. It does not check whether the request was given up: reading from its
// connection fails by then.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.budget.grow(c.request, n)
	return n, err
}

// withPlace processes as many requests at a time as the limiter lets in, and refuses the others. What
// a client takes to send or to read is outside of it. The time of an operation runs from here, so a
// request that waits for its turn has less left. How long a request takes is compared with others that
// read or write about as much. One that did neither, since it was refused or its answer was there
// already, tells nothing about the server.
func withPlace(limiter *concurrency.Limiter, operationTimeout time.Duration, connections *Connections) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			turn, err := limiter.Enter()
			if err != nil {
				overloaded.write(w)
				return
			}
			ctx, cancel := context.WithTimeout(r.Context(), operationTimeout)
			defer cancel()
			connection := connections.of(ctx)
			connections.begin(connection, cancel)
			defer connections.done(connection)
			place, err := turn.Wait(ctx)
			if err != nil {
				overloaded.write(w)
				return
			}
			class := concurrency.Unmeasured // unless it ends well
			defer func() { place.Leave(class) }()
			next.ServeHTTP(w, r.WithContext(ctx))
			if known := requestOf(ctx); !errors.Is(ctx.Err(), context.Canceled) {
				class = concurrency.ClassOf(known.units, known.writes)
			}
		})
	}
}
