package httpapi_test

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/httpapi/concurrency"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// patient is a schema whose operations run until their context ends, and report the cause.
type patient struct {
	*schema
	began chan struct{}
	ended chan error
}

// Exec implements graphql.ExecutableSchema.
func (p patient) Exec(ctx context.Context) graphql.ResponseHandler {
	return func(context.Context) *graphql.Response {
		p.began <- struct{}{}
		<-ctx.Done()
		p.ended <- ctx.Err()
		return &graphql.Response{Data: []byte("null")}
	}
}

const (
	head      = "POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
	echo      = `{"query": "{ echo }"}`
	announced = head + "Content-Length: 21\r\n\r\n" + echo
	inChunks  = head + "Transfer-Encoding: chunked\r\n\r\n15\r\n" + echo + "\r\n0\r\n\r\n"
	byGET     = "GET /graphql?query={echo} HTTP/1.1\r\nHost: localhost\r\n\r\n"
)

// When a client hangs up, the work for its request ends, however it was sent.
func TestClientHangsUp(t *testing.T) {
	s := patient{newSchema(), make(chan struct{}), make(chan error)}
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema = s })
	for name, request := range map[string]string{"announced": announced, "in chunks": inChunks, "GET": byGET} {
		t.Run(name, func(t *testing.T) {
			conn := dial(t, server)
			must.Get(io.WriteString(conn, request))(t)
			<-s.began
			must.Do(t, conn.Close())
			if err := <-s.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the operation ended with %v", err)
			}
		})
	}
}

// A client that hangs up while its request is queued leaves the queue before the queue time is
// over.
func TestClientHangsUpInTheQueue(t *testing.T) {
	s, limiter := newSchema(), concurrency.New(1, 1)
	server := newBoundServer(t, httpapi.NewConnections(0, 0), func(o *httpapi.Options) { o.Schema, o.Concurrency = s, limiter })
	must.Get(io.WriteString(dial(t, server), strings.Replace(announced, "echo }", "waits}", 1)))(t)
	<-s.entered
	defer close(s.released)
	for limiter.State().Gone == 0 { // on a busy machine, its time in the queue may be over before
		waiting := dial(t, server)
		must.Get(io.WriteString(waiting, announced))(t)
		for before := limiter.State().Waited; limiter.State().Queued == 0 && limiter.State().Waited == before; {
			runtime.Gosched()
		}
		must.Do(t, waiting.Close())
		for limiter.State().Queued > 0 {
			time.Sleep(time.Millisecond)
		}
	}
}
