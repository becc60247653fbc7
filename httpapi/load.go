package httpapi

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"time"
)

// perRequest is what a request occupies while it arrives, in addition to its head and body: its
// goroutine and its buffers, in bytes.
const perRequest = 24 << 10

// check returns the refusal of a request, nil if it passes.
type check func(http.ResponseWriter, *http.Request) *refusal

// refused runs checks in order, and answers with the first refusal before anything is computed for
// the request. A body that no check has read is left to net/http, which discards it.
func refused(checks ...check) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			for _, check := range checks {
				if refused := check(w, r); refused != nil {
					refused.write(w)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// checkLoad refuses requests while the limiter refuses others. It holds back requests of clients
// that retry too early.
func checkLoad(limiter *Limiter, connections *Connections) check {
	return func(_ http.ResponseWriter, r *http.Request) *refusal {
		if limiter.Full() {
			connections.hold(r)
		}
		if limiter.Refuse() {
			return connections.refuse(r)
		}
		return nil
	}
}

// refuse returns the refusal of a request for load, and notes its time on the connection.
func (c *Connections) refuse(r *http.Request) *refusal {
	by := c.of(r.Context())
	by.update(func() { by.refused = time.Now() })
	return overloaded
}

// longestHold bounds how long a request is held: a little less than a second, after which some
// clients give up. The time of each is random, so that clients refused together do not come back
// together.
const longestHold = retryAfter * 15 / 16

// hold waits if the connection of a request was refused less than retryAfter ago. A client that
// asks again at once gets a place or another refusal only then. Otherwise it would cause refusals
// as fast as the server makes them, at the expense of answers. Requests from a proxy are not held,
// since its clients share connections. Neither are those of a page that is made for everyone, which
// have no address. At most as many are held as connections may be open. A draining server holds
// none.
func (c *Connections) hold(r *http.Request) {
	by := c.of(r.Context())
	c.mu.Lock()
	wait := min(longestHold-rand.N(longestHold/5), time.Until(by.refused.Add(retryAfter)))
	if wait <= 0 || c.held >= c.max || r.Header.Get(forwardedFor) != "" || r.RemoteAddr == "" {
		c.mu.Unlock()
		return
	}
	c.held++
	c.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
	case <-c.draining.Done():
	}
	c.mu.Lock()
	c.held--
	c.mu.Unlock()
}

// checkBody reads the body of a POST up to a limit in bytes, before the request takes anything that
// others wait for. A client that sends one byte at a time then holds no place among the requests in
// flight, and the time of its operation does not run yet. It holds memory only, which connections
// bounds.
func checkBody(limit int, connections *Connections) check {
	return func(w http.ResponseWriter, r *http.Request) (refused *refusal) {
		if r.Method != http.MethodPost {
			return nil
		}
		known := requestOf(r.Context())
		if known.body, refused = readBody(w, r, limit, connections); refused != nil && r.ProtoMajor == 1 {
			w.Header().Set("Connection", "close") // or the server would read the rest
		}
		return refused
	}
}

// readBody reads the body of a request. It refuses one whose announced length is above the limit
// without reading it. Its memory grows with the bytes that arrive, whatever length was announced.
func readBody(w http.ResponseWriter, r *http.Request, limit int, connections *Connections) ([]byte, *refusal) {
	if r.ContentLength > int64(limit) {
		return nil, bodyTooLarge.with(limit)
	}
	arriving := connections.arriving
	request := arriving.add(&connections.of(r.Context()).sends, perRequest+headBytes(r), func() {
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // a test's recorder has none
	})
	if request == nil {
		return nil, tooSlow
	}
	body, err := io.ReadAll(countedBody{http.MaxBytesReader(w, r.Body, int64(limit)), arriving, request})
	switch kept := arriving.remove(request); {
	case !kept:
		return nil, tooSlow
	case errors.As(err, new(*http.MaxBytesError)):
		return nil, bodyTooLarge.with(limit)
	case errors.Is(err, os.ErrDeadlineExceeded): // of the server's ReadTimeout
		return nil, bodyTimeout
	case err != nil:
		return nil, badEnd
	}
	return body, nil
}

// headBytes returns what a request's head takes in memory.
func headBytes(r *http.Request) int {
	size := len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + fieldCost
		}
	}
	return size
}

// maxFields is how many header fields a request may have. Browsers and their proxies send some 40.
const maxFields = 100

// checkFields refuses requests with many header fields, before they wait for anything.
func checkFields(w http.ResponseWriter, r *http.Request) *refusal {
	fields := 0
	for _, values := range r.Header {
		fields += len(values)
	}
	if fields <= maxFields {
		return nil
	}
	if r.ProtoMajor == 1 {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // or net/http would wait for the body
	}
	return manyFields.with(maxFields)
}

// countedBody is a body whose bytes are counted as they are read.
type countedBody struct {
	io.Reader
	budget  *budget
	request *held
}

// Read implements [io.Reader]. It does not check whether the request was given up: reading from its
// connection fails by then.
func (c countedBody) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.budget.grow(c.request, n)
	return n, err
}

// withPlace processes as many requests at a time as the limiter admits, and refuses the others. A
// client that sends or reads slowly holds no place. The timeout of an operation runs from here, so
// a request that waits for its turn has less time left. The limiter compares the time of a request
// with those that read or write about as much. A request that did neither, because it was refused
// or its answer was cached, is not measured.
func withPlace(limiter *Limiter, operationTimeout time.Duration, connections *Connections) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			turn, err := limiter.Enter()
			if err != nil {
				connections.refuse(r).write(w)
				return
			}
			ctx, cancel := context.WithTimeout(r.Context(), operationTimeout)
			defer cancel()
			connection := connections.of(ctx)
			connection.update(func() { connection.working++ })
			defer connection.update(func() { connection.working-- })
			place, err := turn.Wait(ctx)
			if err != nil {
				connections.refuse(r).write(w)
				return
			}
			class := UnmeasuredLoad // unless it ends well
			defer func() { place.Leave(class) }()
			next.ServeHTTP(w, r.WithContext(ctx))
			if known := requestOf(ctx); !errors.Is(ctx.Err(), context.Canceled) {
				class = loadClassOf(known.units, known.writes)
			}
		})
	}
}
