// Package lambdatest takes the place of AWS Lambda in tests: its runtime API, from which a function
// takes events, and the gateways that make events of HTTP requests. It shares no code with what it
// checks. It is test support, and no shipped code imports it.
package lambdatest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// Lambda is the runtime API of one function.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
type Lambda struct {
	// Timeout is the time of an invocation. Set it before the first one.
	Timeout time.Duration

	server *httptest.Server
	events chan *invocation
	asked  chan struct{} // closed when the function first asks for an event: its init is over
	first  sync.Once

	mu     sync.Mutex
	latest int
	open   map[string]*invocation
}

// invocation is an event on its way, and what becomes of it.
type invocation struct {
	id      string
	payload []byte
	done    chan result
}

type result struct {
	payload []byte
	failed  bool
}

// New starts a runtime API, which stays until the process ends: a function that loses its own ends
// the process.
func New() *Lambda {
	l := &Lambda{Timeout: time.Minute, events: make(chan *invocation), asked: make(chan struct{}), open: map[string]*invocation{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", l.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{what}", l.done)
	mux.HandleFunc("POST /2018-06-01/runtime/init/error", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusAccepted) })
	l.server = httptest.NewServer(mux)
	return l
}

// Address is the host and the port, for AWS_LAMBDA_RUNTIME_API.
func (l *Lambda) Address() string { return strings.TrimPrefix(l.server.URL, "http://") }

// Ready is closed when the function has started.
func (l *Lambda) Ready() <-chan struct{} { return l.asked }

// environment guards the environment, from which aws-lambda-go reads where its runtime API is.
var environment sync.Mutex

// Run starts a handler as the function, in this process. It takes as many events at a time as the
// process was started with in AWS_LAMBDA_MAX_CONCURRENCY, as on Lambda's managed instances; one
// without it.
func Run(tb testing.TB, handler lambda.Handler) *Lambda {
	tb.Helper()
	environment.Lock()
	defer environment.Unlock()
	l := New()
	if err := os.Setenv("AWS_LAMBDA_RUNTIME_API", l.Address()); err != nil {
		tb.Fatal(err)
	}
	go lambda.Start(handler)
	<-l.asked
	return l
}

// ErrFailed is the error of an invocation that the function failed.
var ErrFailed = errors.New("the function failed")

// Invoke hands an event to the function and returns what that returns. A failure is an ErrFailed
// with its text.
func (l *Lambda) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	l.mu.Lock()
	l.latest++
	i := &invocation{strconv.Itoa(l.latest), event, make(chan result, 1)}
	l.open[i.id] = i
	l.mu.Unlock()
	select {
	case l.events <- i:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case r := <-i.done:
		if r.failed {
			return nil, fmt.Errorf("%w: %s", ErrFailed, r.payload)
		}
		return r.payload, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// next hands over the next event, when there is one.
func (l *Lambda) next(w http.ResponseWriter, r *http.Request) {
	l.first.Do(func() { close(l.asked) })
	select {
	case i := <-l.events:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", i.id)
		w.Header().Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(time.Now().Add(l.Timeout).UnixMilli(), 10))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-central-1:1:function:talkback")
		_, _ = w.Write(i.payload) // a function that is gone has no use for it
	case <-r.Context().Done():
	}
}

// done takes the answer of the function, or its error.
func (l *Lambda) done(w http.ResponseWriter, r *http.Request) {
	payload, err := io.ReadAll(r.Body)
	l.mu.Lock()
	i := l.open[r.PathValue("id")]
	delete(l.open, r.PathValue("id"))
	l.mu.Unlock()
	if i == nil || err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	i.done <- result{payload, r.PathValue("what") == "error"}
	w.WriteHeader(http.StatusAccepted)
}
