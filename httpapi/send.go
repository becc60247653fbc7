package httpapi

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"

	"github.com/talkback/talkback/internal/edge"
)

const (
	// sendChunk is how much of an answer is sent at a time, in bytes.
	sendChunk = 64 << 10
	// stallTimeout is how long a client may take to read a chunk. It bounds each pause, not the
	// whole answer. So a phone on a bad line gets a large answer eventually, and the memory of a
	// client that went away is freed.
	stallTimeout = 20 * time.Second
	// perAnswer is what an answer occupies while it waits, in addition to its bytes and the head of
	// its request: the goroutine, the request, their buffers.
	perAnswer = 16 << 10
)

// sender sends answers, and counts the bytes of those that clients have not read yet.
type sender struct {
	connections *Connections
	unsent      *budget
}

// builtFirst builds the whole answer, compressed if the client takes that, before it sends any of
// it. A client that does not read then holds no place among the requests in flight, nor anything
// else that others wait for. It holds memory only, which unsent bounds.
func (s *sender) builtFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := s.connections.of(r.Context())
		built := &builtAnswer{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(built, r)
		edge.OneVary(built.Header())
		known := requestOf(r.Context())
		known.body = nil // an answer may wait for long, and a stream does
		if stream := known.stream; stream != nil {
			stream.send(w, r, s.connections.draining)
			return
		}
		if r.Method == http.MethodGet && built.status == http.StatusOK {
			if setETag(built.Header(), built.body.Bytes(), r.Header.Values("If-None-Match")) {
				built.status = http.StatusNotModified
				built.body.Reset()
				built.Header().Del("Content-Type")
				built.Header().Del("Content-Encoding")
			}
			known.shared.keep(built.Header())
		}
		waiting := s.hold(r, built.body.Cap())
		defer s.unsent.remove(waiting)
		s.connections.last(built) // the server may be stopping by now
		built.send(func() { to.update(func() {}) })
		awaitRest(r)
	})
}

// checkUnread refuses a request of a client that has too many answers to read.
func (s *sender) checkUnread(_ http.ResponseWriter, r *http.Request) *refusal {
	if s.unsent.full(&s.connections.of(r.Context()).unread) {
		return unreadAnswers
	}
	return nil
}

// awaitRest waits for a body that nobody has read. Otherwise net/http would, after counting has
// ended.
func awaitRest(r *http.Request) {
	if r.ContentLength != 0 {
		_ = r.Body.Close() // it fails if the rest does not come
	}
}

// hold counts an answer of size bytes, and the head of its request, until it is removed. It panics
// with [http.ErrAbortHandler] when the connection is closed to make room.
func (s *sender) hold(r *http.Request, size int) *held {
	to := s.connections.of(r.Context())
	waiting := s.unsent.add(&to.unread, size+perAnswer+headBytes(r), to.hangUp)
	if waiting == nil {
		panic(http.ErrAbortHandler) // how net/http lets a handler abandon an answer
	}
	return waiting
}

// light sends an answer at once. It is for answers that are in memory already, such as pages. A
// client that does not read them is counted like others. A handler that makes an answer for one
// request alone calls [lightAnswer.Hold] with its size.
func (s *sender) light(next http.Handler) http.Handler {
	next = refused(checkFields)(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := s.connections.of(r.Context())
		full := s.unsent.full(&to.unread)
		waiting := s.hold(r, 0)
		defer s.unsent.remove(waiting)
		if full {
			w.Header().Set("Content-Type", jsonType)
			unreadAnswers.write(w)
		} else {
			next.ServeHTTP(lightAnswer{w, s.unsent, waiting}, r)
		}
		if r.ProtoMajor == 2 || r.ContentLength != 0 {
			// Otherwise the end of the answer would wait for the client after counting has ended.
			_ = http.NewResponseController(w).Flush()
		}
		awaitRest(r)
	})
}

// lightAnswer is an answer that is sent at once.
type lightAnswer struct {
	http.ResponseWriter
	unsent  *budget
	waiting *held
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a lightAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Hold counts bytes that were made for this answer alone, until it is sent. It panics with
// [http.ErrAbortHandler] when the connection is closed to make room.
func (a lightAnswer) Hold(size int) {
	if !a.unsent.grow(a.waiting, size) {
		panic(http.ErrAbortHandler)
	}
}

// builtAnswer is an answer that is not sent yet.
type builtAnswer struct {
	http.ResponseWriter // where it is sent in the end
	status              int
	body                bytes.Buffer
}

// Unwrap lets [http.ResponseController] reach the connection.
func (a *builtAnswer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader implements [http.ResponseWriter].
func (a *builtAnswer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter]. It makes room for the end of the answer as well, which
// would otherwise double the buffer of a large one.
func (a *builtAnswer) Write(p []byte) (int, error) {
	a.body.Grow(len(p) + 256)
	return a.body.Write(p)
}

// send sends the answer as fast as the client reads it. It returns when everything is sent, or when
// the client went away or stalls. It calls sent after each chunk.
func (a *builtAnswer) send(sent func()) {
	w := a.ResponseWriter
	if a.body.Len() > 0 {
		a.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	}
	w.WriteHeader(a.status)
	control := http.NewResponseController(w)
	for chunk := range slices.Chunk(a.body.Bytes(), sendChunk) {
		_ = control.SetWriteDeadline(time.Now().Add(stallTimeout)) // a test's recorder has none
		if _, err := w.Write(chunk); err != nil {
			return
		}
		// Otherwise the end of the chunk would stay in net/http's buffer until the handler returns.
		// Writers that are not net/http's, such as those of pages in this process, have no such buffer.
		if err := control.Flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return
		}
		sent()
	}
	_ = control.Flush() // of an answer without a body
}

// minCompressed is the size of the smallest answer that is compressed, in bytes. A smaller one fits
// into one packet anyway.
const minCompressed = 1024

// compressed gzips answers for clients that accept gzip. All clients that accept zstd do. Pages do
// not pass through it: they are compressed already.
func compressed(next http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(minCompressed), gzhttp.CompressionLevel(gzip.BestSpeed), gzhttp.EnableZstd(false))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(next)
}
