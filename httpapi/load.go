package httpapi

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	// headCost is how much memory a byte of a request's head takes while it arrives: the server's buffer doubles as it grows, and
	// each line is copied.
	headCost = 2
	// perRequest is what a request occupies beside its head and body while these arrive: its goroutine and its buffers.
	perRequest = 16 << 10
)

// withBody reads the body of a POST before anything is set aside for the request. So a client that sends a byte at a time
// holds no place among the requests in flight, and the time of the operation does not begin before it can be read. What it
// does hold is memory, which Connections bounds.
func (o Options) withBody(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, refused := o.readAll(w, r)
		if refused != nil {
			if r.ProtoMajor == 1 {
				w.Header().Set("Connection", "close") // or the server would read the rest
			}
			refused.write(w)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// readAll reads a body up to the bound. One that says beforehand that it is larger is not begun. Memory is taken as bytes
// come, whatever length was announced.
func (o Options) readAll(w http.ResponseWriter, r *http.Request) ([]byte, *refusal) {
	if r.ContentLength > int64(o.MaxBody) {
		return nil, bodyTooLarge.with(o.MaxBody)
	}
	arriving := o.Connections.arriving
	stop := func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) } // only a recorder in a test cannot
	request := arriving.add(o.Connections.of(r.Context()), perRequest+headBytes(r), stop)
	if request == nil {
		return nil, tooSlow
	}
	body, err := io.ReadAll(counted{http.MaxBytesReader(w, r.Body, int64(o.MaxBody)), arriving, request})
	var tooLarge *http.MaxBytesError
	switch kept := arriving.remove(request); {
	case !kept:
		return nil, tooSlow
	case errors.As(err, &tooLarge):
		return nil, bodyTooLarge.with(o.MaxBody)
	case err != nil:
		return nil, badEnd
	}
	return body, nil
}

// headBytes is about what the head of a request occupies.
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

// Read implements [io.Reader]. It goes on for a request that was given up, whose connection fails by then.
func (c counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.budget.grow(c.request, n)
	return n, err
}

// withPlace gives each request a place, or refuses it at once when none is free: a request that waits costs memory, and whoever
// sent it gives up before it is answered.
func (o Options) withPlace(next http.Handler) http.Handler {
	places := make(chan struct{}, o.MaxInFlight)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
			defer o.Connections.work(o.Connections.of(r.Context()))()
			next.ServeHTTP(w, r)
		default:
			overloaded.write(w)
		}
	})
}
