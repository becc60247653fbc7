package httpapi

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"time"
)

const (
	// sendChunk is how much of an answer is sent at a time, in bytes.
	sendChunk = 64 << 10
	// stallTimeout is how long a client may take to read a chunk. It bounds a pause, not the whole answer: a phone on a bad
	// line gets a large answer in the end, one that went away gives its memory back.
	stallTimeout = 20 * time.Second
	// perAnswer is what an answer occupies beside its bytes while it waits: the goroutine, the request, their buffers.
	perAnswer = 16 << 10
)

// builtFirst builds the whole answer, compressed if it is to be, before any of it is sent. So a client that does not read
// holds no place among the requests in flight, nor anything else that others wait for: only memory, which unsent bounds.
func (o Options) builtFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := o.Connections.of(r.Context())
		built := &builtAnswer{ResponseWriter: w, status: http.StatusOK}
		if o.unsent.full(to) {
			unreadAnswers.write(built)
		} else {
			next.ServeHTTP(built, r)
		}
		if r.Method == http.MethodGet {
			built.revalidate(r.Header)
		}
		defer o.waits(to, built.body.Cap())()
		built.send(func() { o.Connections.update(to, func() {}) })
	})
}

// waits counts an answer of so many bytes that is about to be sent, until done is called. It does not return when the connection
// is closed to make room.
func (o Options) waits(to *connection, size int) (done func()) {
	waiting := o.unsent.add(to, size+perAnswer, to.hangUp)
	if waiting == nil {
		panic(http.ErrAbortHandler) // net/http's word for an answer that is given up
	}
	return func() { o.unsent.remove(waiting) }
}

// light is for answers that need no work and lie in memory, such as pages: they are sent at once, but clients that do not read them
// count like others.
func (o Options) light(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := o.Connections.of(r.Context())
		full := o.unsent.full(to)
		defer o.waits(to, 0)()
		if full {
			w.Header().Set("Content-Type", jsonType)
			unreadAnswers.write(w)
		} else {
			next.ServeHTTP(w, r)
		}
		if r.ProtoMajor == 2 {
			_ = http.NewResponseController(w).Flush() // the end would wait for its reader when it is not counted any more
		}
	})
}

// builtAnswer is an answer that is not sent yet.
type builtAnswer struct {
	http.ResponseWriter // where it goes in the end
	status              int
	body                bytes.Buffer
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *builtAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (a *builtAnswer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *builtAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// send sends the answer as fast as the client reads it, and returns when all is sent or the client stalls. Errors are
// clients that went away or stalled, which need no answer. It calls sent with each piece.
func (a *builtAnswer) send(sent func()) {
	w := a.ResponseWriter
	if a.body.Len() > 0 {
		a.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	}
	w.WriteHeader(a.status)
	control := http.NewResponseController(w)
	for chunk := range slices.Chunk(a.body.Bytes(), sendChunk) {
		_ = control.SetWriteDeadline(time.Now().Add(stallTimeout)) // only a recorder in a test cannot
		if _, err := w.Write(chunk); err != nil {
			return
		}
		sent()
	}
	_ = control.Flush() // the end of the answer would wait in net/http's buffer for this handler to end
}
