package httpapi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/talkback/talkback/internal/task"
)

// asksForSocket reports whether a request asks for a socket, which none with a body does. Other
// protocols that a client would rather speak, such as h2c, are ignored.
func asksForSocket(r *http.Request) bool {
	return r.ContentLength == 0 && strings.EqualFold(strings.TrimSpace(r.Header.Get("Upgrade")), "websocket")
}

// checkSocket refuses requests for a socket. A server with sockets serves them before this check.
// Of the header of such a request, a proxy that does not know sockets drops Upgrade, and passes the
// rest on.
func checkSocket(_ http.ResponseWriter, r *http.Request) *refusal {
	switch {
	case asksForSocket(r):
		return noSubscriptions
	case r.Header.Get("Sec-WebSocket-Key") != "":
		return notUpgraded
	}
	return nil
}

// sockets serves sockets, whose operations go through a handler as if each were a POST. It refuses
// clients that have too many sockets.
func (o *Options) sockets(operations http.Handler, sender *sender) func(http.Handler) http.Handler {
	if o.Subscriptions == nil {
		return func(next http.Handler) http.Handler { return next }
	}
	operations = o.observed(operations, false)
	upgrade := refused(checkFields, checkLoad(o.Concurrency, o.Connections), checkSingle, checkSite)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		free, full := o.Subscriptions.connections.take(o.Subscriptions.Client, r)
		if full != nil {
			full.write(w)
			return
		}
		s := &socketRequests{Options: o, upgrade: r, operations: operations, sender: sender}
		socket := &socket{
			run: s.run, check: s.check, stopping: o.Connections.draining, closed: free,
			maxMessage: int64(o.MaxBody) + 1<<10, timing: o.Subscriptions.Timing,
		}
		socket.serveUpgrade(w, r)
	}))
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asksForSocket(r) {
				upgrade.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// socketRequests turns the operations of a socket into requests.
type socketRequests struct {
	*Options
	upgrade    *http.Request
	operations http.Handler
	sender     *sender
}

// request returns a POST as the socket's client might have sent it.
func (s *socketRequests) request(ctx context.Context, token string, body *bytes.Reader) *http.Request {
	header := s.upgrade.Header.Clone()
	for name := range header {
		if name == "Upgrade" || name == "Connection" || name == "Accept" || strings.HasPrefix(name, "Sec-Websocket") {
			delete(header, name)
		}
	}
	header.Set("Content-Type", "application/json")
	if token != "" {
		header.Set("Authorization", token)
	}
	u := s.upgrade
	return (&http.Request{
		Method: http.MethodPost, URL: u.URL, Header: header, Host: u.Host, RemoteAddr: u.RemoteAddr, TLS: u.TLS,
		Proto: u.Proto, ProtoMajor: u.ProtoMajor, ProtoMinor: u.ProtoMinor, RequestURI: u.RequestURI,
		Body: io.NopCloser(body), ContentLength: body.Size(),
	}).WithContext(ctx)
}

// guarded calls a function. A panic would end the process: no HTTP server recovers it.
func (s *socketRequests) guarded(f func()) {
	if err := task.Guard(func() error { f(); return nil }); err != nil {
		s.Logger.Error("a request panicked", "error", err)
	}
}

// check returns an error if a token is refused.
func (s *socketRequests) check(token string) error {
	refused := true // if the check panics
	s.guarded(func() { refused = s.refusesToken(s.request(context.Background(), token, new(bytes.Reader))) })
	if refused {
		return errors.New("the token is not valid, or no longer: connect again with a new one")
	}
	return nil
}

// run answers an operation, or begins a subscription. An answer counts among those that clients
// have not read, twice, since it is copied into a message. By then, the operation itself is not in
// memory any more.
func (s *socketRequests) run(ctx context.Context, token string, payload []byte, reply func([]byte)) streamSource {
	known := newRequest(ctx)
	known.socket = true
	w, body := &socketAnswer{header: http.Header{}}, bytes.NewReader(payload)
	s.guarded(func() { s.operations.ServeHTTP(w, s.request(known, token, body)) })
	known.body = nil
	body.Reset(nil) // the context of a subscription holds its request
	if known.stream != nil {
		known.exchange = nil
		return known.stream
	}
	if w.body.Len() == 0 { // it panicked
		w.body.Write(mustJSON(map[string]gqlerror.List{"errors": {errPanicked}}))
	}
	to := s.Connections.of(ctx)
	if waiting := s.sender.unsent.add(&to.unread, 2*w.body.Cap()+perAnswer, to.hangUp); waiting != nil {
		defer s.sender.unsent.remove(waiting)
		reply(w.body.Bytes())
	}
	return nil
}

// errPanicked is the error of an operation whose cause is in the log.
var errPanicked = &gqlerror.Error{Message: "something went wrong", Extensions: map[string]any{"code": "INTERNAL"}}

// socketAnswer keeps an answer in memory.
type socketAnswer struct {
	header http.Header
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *socketAnswer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. The body says what became of the operation.
func (a *socketAnswer) WriteHeader(int) {}

// Write implements [http.ResponseWriter]. It makes room for the end of the answer, as
// [builtAnswer.Write] does.
func (a *socketAnswer) Write(p []byte) (int, error) {
	a.body.Grow(len(p) + 256)
	return a.body.Write(p)
}
