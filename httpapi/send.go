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
	unread := newUnsent(o.MaxUnsent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := connectionOf(r.Context())
		built := &builtAnswer{header: w.Header(), status: http.StatusOK}
		if unread.full(to) {
			unreadAnswers.write(built)
		} else {
			next.ServeHTTP(built, r)
		}
		if r.Method == http.MethodGet {
			built.revalidate(r.Header)
		}
		waiting := unread.add(to, built.body.Cap()+perAnswer)
		if waiting == nil {
			panic(http.ErrAbortHandler) // net/http's word for an answer that is given up
		}
		defer unread.remove(waiting)
		built.send(w)
	})
}

// builtAnswer is an answer that is not sent yet.
type builtAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *builtAnswer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *builtAnswer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *builtAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// send sends the answer as fast as the client reads it, and returns when all is sent or the client stalls. Errors are
// clients that went away or stalled, which need no answer.
func (a *builtAnswer) send(w http.ResponseWriter) {
	if a.body.Len() > 0 {
		a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	}
	w.WriteHeader(a.status)
	control := http.NewResponseController(w)
	for chunk := range slices.Chunk(a.body.Bytes(), sendChunk) {
		_ = control.SetWriteDeadline(time.Now().Add(stallTimeout)) // only a recorder in a test cannot
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
	_ = control.Flush() // the end of the answer would wait in net/http's buffer for this handler to end
}
