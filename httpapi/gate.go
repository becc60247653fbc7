package httpapi

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/talkback/talkback/httpapi/concurrency"
)

// gate refuses requests while others are refused, before net/http reads them: to read one takes longer
// than to refuse it. See docs/design/refusals.md. Safe for concurrent use.
type gate struct {
	limiter *concurrency.Limiter
	refuse  http.Handler
}

// raiseGate puts a gate before a handler with these options. Its refusals have the headers that those
// of the handler have, and the observers are told of them.
func (o Options) raiseGate() {
	refuse := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { overloaded.write(w) })
	g := gate{o.Concurrency, recorded(o.observed(allow(o.Origins)(negotiated(refuse)), false))}
	refuses := refuser(g.refuses)
	o.Connections.gate.Store(&refuses)
}

// refuses reports whether it has refused what was read from a connection. It looks at one request to
// the API that was read as a whole and by itself. All else is left to net/http.
func (g gate) refuses(read []byte, from *connection) bool {
	if !g.limiter.Refusing() || !isToAPI(read) || !from.enterEarly() {
		return false
	}
	defer from.all.leave(from)
	with := workbenches.Get().(*workbench)
	defer workbenches.Put(with)
	r := with.wholeRequest(read)
	if r == nil || !g.limiter.Refuse() {
		return false
	}
	g.refuse.ServeHTTP(with.newAnswer(), r)
	from.answer(with.encoded())
	return true
}

// isToAPI reports whether bytes begin like a request that the API answers.
func isToAPI(read []byte) bool {
	return bytes.HasPrefix(read, []byte("POST "+graphQLPath+" ")) || bytes.HasPrefix(read, []byte("GET "+graphQLPath+"?"))
}

// enterEarly is enter for a request that net/http has not read. It reports false if net/http must read
// it: it has some of it already, or the answer is to say that the connection ends. If true, the caller
// calls leave when the answer was sent.
func (c *connection) enterEarly() bool {
	c.all.mu.Lock()
	defer c.all.mu.Unlock()
	if !c.framing.between() || c.all.stopping.Load() {
		return false
	}
	c.requests++
	c.since = time.Now()
	return true
}

// answer sends an answer in place of net/http, with the deadlines that it would set for the answer and
// for the next request.
func (c *connection) answer(encoded []byte) {
	now := time.Now()
	if toWrite := c.all.server.WriteTimeout; toWrite > 0 {
		_ = c.Conn.SetWriteDeadline(now.Add(toWrite))
	}
	if idle := cmp.Or(c.all.server.IdleTimeout, c.all.server.ReadTimeout); idle > 0 {
		_ = c.Conn.SetReadDeadline(now.Add(idle))
	}
	if _, err := c.send(encoded); err != nil {
		c.hangUp() // a part of it may have gone, which nothing may follow
	}
}

// workbench is what it takes to read a request from bytes, and to gather its answer. It is used again
// for other requests. It implements [http.ResponseWriter].
type workbench struct {
	bytes   bytes.Reader
	request bufio.Reader

	header http.Header
	status int
	body   bytes.Buffer
	whole  bytes.Buffer
}

var workbenches = sync.Pool{New: func() any { return &workbench{header: http.Header{}} }}

// wholeRequest returns the request that bytes are, without its body. It is nil if they are anything but
// one request, and if net/http would answer with more than the refusal or with something else.
func (b *workbench) wholeRequest(read []byte) *http.Request {
	b.bytes.Reset(read)
	b.request.Reset(&b.bytes)
	r, err := http.ReadRequest(&b.request)
	if err != nil || r.ContentLength != int64(b.bytes.Len()+b.request.Buffered()) {
		return nil
	}
	if r.ProtoMajor != 1 || r.ProtoMinor == 0 || mayEnd(r) || r.Header["Expect"] != nil || !isValid(r) {
		return nil
	}
	return r
}

// mayEnd reports whether a request may ask for the end of its connection. net/http also takes the word
// where the header is no list.
func mayEnd(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header["Connection"], ",")), "close")
}

// isValid reports whether the head of a request has a host, and only what may be in a head. A server of
// net/http refuses others, which [http.ReadRequest] does not.
func isValid(r *http.Request) bool {
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) || slices.ContainsFunc(values, isInvalidValue) {
			return false
		}
	}
	return r.Host != "" && httpguts.ValidHostHeader(r.Host)
}

func isInvalidValue(value string) bool { return !httpguts.ValidHeaderFieldValue(value) }

// newAnswer returns what gathers the answer to one request.
func (b *workbench) newAnswer() http.ResponseWriter {
	clear(b.header)
	b.body.Reset()
	b.whole.Reset()
	return b
}

// Header implements [http.ResponseWriter].
func (b *workbench) Header() http.Header { return b.header }

// WriteHeader implements [http.ResponseWriter].
func (b *workbench) WriteHeader(status int) { b.status = status }

// Write implements [http.ResponseWriter].
func (b *workbench) Write(p []byte) (int, error) { return b.body.Write(p) }

// encoded returns the answer as HTTP/1.1 has it, until the next one is gathered. No value of a header
// has a line break: those from the request are valid.
func (b *workbench) encoded() []byte {
	fmt.Fprintf(&b.whole, "HTTP/1.1 %d %s\r\nContent-Length: %d\r\nDate: ", b.status, http.StatusText(b.status), b.body.Len())
	b.whole.Write(time.Now().UTC().AppendFormat(b.whole.AvailableBuffer(), http.TimeFormat))
	b.whole.WriteString("\r\n")
	for name, values := range b.header {
		for _, value := range values {
			for _, part := range [...]string{name, ": ", value, "\r\n"} {
				b.whole.WriteString(part)
			}
		}
	}
	b.whole.WriteString("\r\n")
	b.whole.Write(b.body.Bytes())
	return b.whole.Bytes()
}
