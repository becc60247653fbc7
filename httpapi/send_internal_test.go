package httpapi

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"weak"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// A page is counted until it is sent, and its request to the API only until the API has answered.
func TestPagesMadeForARequestAreCounted(t *testing.T) {
	s := &sender{connections: NewConnections(0, 0), unsent: newBudget(1 << 20)}
	var during int
	s.light(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		api := s.builtFirst(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 50_000)) }))
		api.ServeHTTP(httptest.NewRecorder(), r)
		w.(interface{ Hold(bytes int) }).Hold(100_000)
		during = s.unsent.total
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/products/42", nil))
	if want := 100_000 + perAnswer + len("/products/42"); during != want || s.unsent.total != 0 {
		t.Errorf("%d bytes are counted, and %d afterwards; want %d and none", during, s.unsent.total, want)
	}
}

// The end of a large answer over a socket does not double its buffer.
func TestBufferOfALargeAnswerOverASocket(t *testing.T) {
	const size = 4 << 20 // a multiple of the memory that Go adds
	w := &socketAnswer{}
	for _, part := range []int{10, size - 10, 100} {
		_, _ = w.Write(make([]byte, part))
	}
	if got := w.body.Cap(); got > size+size/4 {
		t.Errorf("an answer of %d bytes takes %d", w.body.Len(), got)
	}
}

// freeing fails the test if the body of a request is kept while the answer is sent.
type freeing struct {
	*httptest.ResponseRecorder
	t     *testing.T
	known *request
}

func (f freeing) Write(p []byte) (int, error) {
	if f.known.body != nil {
		f.t.Error("the request is kept while its answer is sent")
	}
	return len(p), nil
}

// endless is a stream of events.
type endless struct{ pending }

func (endless) send(w http.ResponseWriter, _ *http.Request, _ context.Context) {
	_, _ = w.Write([]byte(":"))
}

// A request takes no memory while its client reads the answer, or the events of a subscription.
func TestRequestsAreFreedBeforeTheirAnswers(t *testing.T) {
	s := &sender{connections: NewConnections(0, 0), unsent: newBudget(1 << 20)}
	for _, stream := range []pending{nil, endless{}} {
		known := newRequest(t.Context())
		s.builtFirst(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			known.body, known.stream = []byte("{}"), stream
			_, _ = w.Write([]byte("{}"))
		})).ServeHTTP(freeing{httptest.NewRecorder(), t, known}, httptest.NewRequestWithContext(known, http.MethodPost, "/graphql", nil))
	}
}

// Neither does an answer over a socket, or a subscription there, hold its operation, even if
// something holds the request.
func TestOperationsOfSocketsAreFreed(t *testing.T) {
	s := &socketRequests{
		Options: &Options{Connections: NewConnections(0, 0), Logger: slog.New(slog.DiscardHandler)},
		upgrade: httptest.NewRequest(http.MethodGet, "/graphql", nil), sender: &sender{unsent: newBudget(1 << 20)},
	}
	for _, stream := range []pending{nil, endless{}} {
		payload, checked := bytes.Repeat([]byte("x"), 1000), false
		sent, read, kept := weak.Make(&payload[0]), weak.Pointer[byte]{}, (*http.Request)(nil)
		check := func([]byte) {
			checked = true
			if runtime.GC(); sent.Value() != nil || read.Value() != nil {
				t.Errorf("subscription: %v; in memory are the message: %v, the body: %v", stream != nil, sent.Value() != nil, read.Value() != nil)
			}
		}
		s.operations = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			known := requestOf(r.Context())
			known.body, known.stream, kept = must.Get(io.ReadAll(r.Body))(t), stream, r
			read = weak.Make(&known.body[0])
			_, _ = w.Write([]byte("{}"))
		})
		if s.run(t.Context(), "", payload, check) != nil {
			check(nil)
		}
		if runtime.KeepAlive(kept); !checked {
			t.Error("there is no answer")
		}
	}
}

// A page whose connection was closed to make room is not sent.
func TestPageThatWasGivenUp(t *testing.T) {
	s := &sender{connections: NewConnections(0, 0), unsent: newBudget(1 << 20)}
	defer func() {
		if recover() != http.ErrAbortHandler || s.unsent.total != 0 {
			t.Errorf("the page is sent, or %d bytes stay counted", s.unsent.total)
		}
	}()
	s.light(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.unsent.remove(w.(lightAnswer).waiting) // as makeRoom does
		w.(interface{ Hold(bytes int) }).Hold(100_000)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/products/42", nil))
}

// unflushed takes an answer within the process: it has no buffer that could be flushed.
type unflushed struct{ *httptest.ResponseRecorder }

// Flush does not have the signature of [http.Flusher].
func (unflushed) Flush(struct{}) {}

// An answer of several chunks arrives whole even where nothing can be flushed.
func TestLargeAnswersWithinTheProcess(t *testing.T) {
	s := &sender{connections: NewConnections(0, 0), unsent: newBudget(10 << 20)}
	to := unflushed{httptest.NewRecorder()}
	s.builtFirst(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write(make([]byte, 3*sendChunk+1))
	})).ServeHTTP(to, httptest.NewRequest(http.MethodPost, "/graphql", nil))
	if got := to.Body.Len(); got != 3*sendChunk+1 {
		t.Errorf("%d bytes arrived, want %d", got, 3*sendChunk+1)
	}
}
