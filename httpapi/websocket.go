package httpapi

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/semaphore"
)

// socketProtocol is the only subprotocol that is spoken:
// https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md.
const socketProtocol = "graphql-transport-ws"

// The codes by which a socket is closed.
const (
	closeBadMessage   websocket.StatusCode = 4400
	closeUnauthorized websocket.StatusCode = 4401
	closeForbidden    websocket.StatusCode = 4403
	closeNoProtocol   websocket.StatusCode = 4406
	closeInitTimeout  websocket.StatusCode = 4408
	closeDuplicate    websocket.StatusCode = 4409
	closeInitTwice    websocket.StatusCode = 4429
)

// maxSocketOperations is how many operations one socket may have at once.
const maxSocketOperations = 100

// maxOperationID bounds the id of an operation, in bytes: it is kept, and sent with each event.
// Clients count, or send a UUID.
const maxOperationID = 128

// maxFrame is how much of a message is sent at a time, in bytes. Pings and pongs wait for their
// turn between frames, and the library closes the socket if they wait for 5 seconds.
const maxFrame = 16 << 10

// tooManyOperations is the error of an operation beyond maxSocketOperations.
const tooManyOperations = `[{"message":"this connection has 100 operations under way: complete some, or open another connection","extensions":{"code":"TOO_MANY_SUBSCRIPTIONS"}}]`

// socket is the WebSocket of an http.Request.
type socket struct {
	// run runs the operation in a message's payload, as a POST would. It calls reply with the answer
	// in JSON, or returns a source of answers. reply returns when the client has the answer. token is
	// from the payload of connection_init, empty for none.
	run func(ctx context.Context, token string, payload []byte, reply func(answer []byte)) streamSource
	// check returns an error if a token is not accepted: a sentence of at most 120 bytes, which closes
	// the socket. It is called again at each heartbeat.
	check func(token string) error
	// stopping ends when the server stops.
	stopping context.Context
	// closed is called when the socket is closed.
	closed func()
	// maxMessage bounds messages of the client, in bytes.
	maxMessage int64
	timing     StreamTiming

	ctx  context.Context
	conn *websocket.Conn

	initiated bool                // by connection_init; only serve's goroutine uses it
	sending   *semaphore.Weighted // one message at a time, so that each has its own time
	ponging   *semaphore.Weighted // one answer to a ping waits for its turn

	mu         sync.Mutex // guards what follows
	token      string
	ready      bool
	operations map[string]context.CancelFunc
	timer      *time.Timer
}

// serveUpgrade answers the request and serves the socket in a new goroutine, so that the request's
// goroutine and its memory are free again. It calls closed in any case.
func (s *socket) serveUpgrade(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(leanAnswer{w}, r, &websocket.AcceptOptions{
		Subprotocols:       []string{socketProtocol},
		InsecureSkipVerify: true, // the caller has checked the origin, as for every request
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.closed()
		return
	}
	s.timing = s.timing.withDefaults()
	s.conn, s.sending, s.ponging = conn, semaphore.NewWeighted(1), semaphore.NewWeighted(1)
	conn.SetReadLimit(s.maxMessage)
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	s.ctx = ctx
	go func() {
		defer s.closed()
		defer cancel()
		s.serve()
	}()
}

// leanAnswer is an answer whose connection gets small buffers: most sockets are idle, and the
// buffers of net/http take 8 KB.
type leanAnswer struct{ http.ResponseWriter }

const (
	readBuffer  = 128
	writeBuffer = 256
)

// Hijack implements [http.Hijacker].
func (l leanAnswer) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, large, err := http.NewResponseController(l.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if n := large.Reader.Buffered(); n > readBuffer { // the client has sent on without waiting
		return conn, large, nil
	}
	early, err := large.Reader.Peek(large.Reader.Buffered())
	small := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(early), conn), readBuffer)
	if len(early) > 0 {
		_, _ = small.Peek(len(early)) // the library looks for what is buffered
	}
	return conn, bufio.NewReadWriter(small, bufio.NewWriterSize(conn, writeBuffer)), err
}

// WriteHeader implements [http.ResponseWriter]. It sends the names of headers as RFC 6455 spells
// them: some clients compare case. The library's own spelling is back afterwards, for the library
// reads the map.
func (l leanAnswer) WriteHeader(status int) {
	header := l.Header()
	for name, values := range header {
		if rest, found := strings.CutPrefix(name, "Sec-Websocket-"); found {
			delete(header, name)
			header["Sec-WebSocket-"+rest] = values
			defer func() { header[name] = values }()
		}
	}
	l.ResponseWriter.WriteHeader(status)
}

// serve reads messages until the socket is closed.
func (s *socket) serve() {
	defer func() { _ = s.conn.CloseNow() }()
	if s.conn.Subprotocol() != socketProtocol {
		s.close(closeNoProtocol, "Subprotocol not acceptable: speak "+socketProtocol)
		return
	}
	s.mu.Lock()
	s.timer = time.AfterFunc(s.timing.Init, func() { s.close(closeInitTimeout, "Connection initialisation timeout") })
	s.mu.Unlock()
	defer context.AfterFunc(s.stopping, func() { s.close(websocket.StatusGoingAway, "the server stops: connect again") })()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.timer.Stop()
	}()
	for {
		kind, text, err := s.read()
		switch {
		case err != nil:
			return
		case kind != websocket.MessageText:
			s.close(closeBadMessage, "messages are text")
			return
		case !s.receive(text):
			return
		}
	}
}

// read reads a message. Its end must follow its beginning soon, since its parts are in memory until
// then.
func (s *socket) read() (kind websocket.MessageType, text []byte, err error) {
	kind, rest, err := s.conn.Reader(s.ctx)
	if err != nil {
		return kind, nil, err
	}
	defer time.AfterFunc(s.timing.Stall, func() { _ = s.conn.CloseNow() }).Stop()
	text, err = io.ReadAll(rest)
	return kind, text, err
}

// close closes the socket with a code and a sentence, and returns that it is not open. A client has
// 5 seconds to answer that.
func (s *socket) close(code websocket.StatusCode, reason string) (open bool) {
	_ = s.conn.Close(code, reason)
	return false
}

// socketMessage is a message of the protocol.
type socketMessage struct {
	ID      *string        `json:"id"`
	Type    string         `json:"type"`
	Payload jsontext.Value `json:"payload"`
}

// object reports whether the payload is an object.
func (m socketMessage) object() bool { return len(m.Payload) > 0 && m.Payload[0] == '{' }

// empty reports whether the payload is left out.
func (m socketMessage) empty() bool { return len(m.Payload) == 0 || string(m.Payload) == "null" }

// halvesAllowed lets halves of surrogate pairs pass, in strings: [socket.run] refuses the operation
// that has one, and the socket stays open.
var halvesAllowed = jsontext.AllowInvalidUTF8(true)

// wholeOnly refuses halves in an id: two ids that differ only there would become equal, and come
// back as U+FFFD.
var wholeOnly = json.WithUnmarshalers(json.UnmarshalFunc(func(text []byte, id *string) error { return json.Unmarshal(text, id) }))

// read reads a message strictly: names are case-sensitive, and none occurs twice. Repeated names
// within an operation are left to [socket.run], too.
func (m *socketMessage) read(text []byte) bool {
	if !utf8.Valid(text) {
		return false
	}
	if json.Unmarshal(text, m, halvesAllowed, wholeOnly) == nil {
		return true
	}
	return json.Unmarshal(text, m, halvesAllowed, wholeOnly, jsontext.AllowDuplicateNames(true)) == nil && m.Type == "subscribe" && !m.Payload.IsValid(halvesAllowed)
}

// receive acts on a message. It reports whether the socket is still open.
func (s *socket) receive(text []byte) bool {
	var m socketMessage
	bad := func(reason string) bool { return s.close(closeBadMessage, reason) }
	switch {
	case !m.read(text):
		return bad("a message is a JSON object with a type, gives no name twice, and is not nested 10,000 deep; its id has whole characters")
	case !m.empty() && !m.object():
		return bad("a payload is an object")
	}
	switch m.Type {
	case "connection_init":
		return s.initiate(m)
	case "ping":
		pong := socketMessage{Type: "pong", Payload: m.Payload}
		if !s.initiated {
			return s.write(s.ctx, pong)
		}
		if s.ponging.Acquire(s.ctx, 1) != nil {
			return false
		}
		go func() { // what the client sends is read while large answers go before the pong
			defer s.ponging.Release(1)
			s.write(s.ctx, pong)
		}()
		return true
	case "pong":
		return true
	case "subscribe":
		if m.ID == nil || *m.ID == "" || len(*m.ID) > maxOperationID || !m.object() {
			return bad(fmt.Sprintf("subscribe has an id of 1 to %d bytes, and a payload", maxOperationID))
		}
		return s.subscribe(*m.ID, m.Payload)
	case "complete":
		if m.ID == nil || *m.ID == "" {
			return bad("complete has an id")
		}
		s.mu.Lock()
		cancel := s.operations[*m.ID]
		delete(s.operations, *m.ID)
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return true
	}
	return bad("no client sends a message of this type")
}

// initiate accepts or refuses the connection.
func (s *socket) initiate(m socketMessage) bool {
	if s.initiated {
		return s.close(closeInitTwice, "Too many initialisation requests")
	}
	s.initiated = true
	token := tokenIn(m.Payload)
	if err := s.check(token); err != nil {
		return s.close(closeForbidden, err.Error())
	}
	s.mu.Lock()
	s.timer.Stop()
	s.token, s.ready, s.operations = token, true, map[string]context.CancelFunc{}
	s.timer = time.AfterFunc(s.timing.Heartbeat, s.look)
	s.mu.Unlock()
	return s.write(s.ctx, socketMessage{Type: "connection_ack"})
}

// tokenIn returns the member authorization of a connection_init payload, in any case, or else that
// of its object headers, as some clients send it.
func tokenIn(payload jsontext.Value) string {
	var given struct {
		Authorization string                         `json:"authorization"`
		Headers       struct{ Authorization string } `json:"headers"`
	}
	if json.Unmarshal(payload, &given, halvesAllowed, json.MatchCaseInsensitiveNames(true)) != nil {
		return ""
	}
	return cmp.Or(given.Authorization, given.Headers.Authorization)
}

// look checks that the client is still there and its token still valid.
func (s *socket) look() {
	s.mu.Lock()
	token := s.token
	s.mu.Unlock()
	if err := s.check(token); err != nil {
		s.close(closeForbidden, err.Error()) // with closeUnauthorized, graphql-ws would not ask for a new token, and not come again
		return
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timing.Stall)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		_ = s.conn.CloseNow()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer.Reset(s.timing.Heartbeat)
}

// subscribe begins an operation. Meanwhile no other begins: serve calls it for one message at a
// time.
func (s *socket) subscribe(id string, payload []byte) bool {
	s.mu.Lock()
	_, taken := s.operations[id]
	ready, full := s.ready, len(s.operations) == maxSocketOperations
	s.mu.Unlock()
	switch {
	case !ready:
		return s.close(closeUnauthorized, "Unauthorized: send connection_init first, and wait for connection_ack")
	case taken:
		return s.close(closeDuplicate, "Subscriber for "+strings.ToValidUTF8(id[:min(len(id), 40)], "")+" already exists")
	case full:
		return s.write(s.ctx, socketMessage{ID: &id, Type: "error", Payload: jsontext.Value(tooManyOperations)})
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	s.operations[id] = cancel
	s.mu.Unlock()
	go func() {
		source := s.run(ctx, s.token, payload, func(answer []byte) { s.answer(ctx, id, answer) })
		if source == nil {
			cancel()
			return
		}
		go s.follow(ctx, cancel, id, source) // in a new goroutine, whose stack is small
	}()
	return true
}

// answer sends the answer of an operation that is over.
func (s *socket) answer(ctx context.Context, id string, answer []byte) {
	var parts struct {
		Data   jsontext.Value `json:"data"`
		Errors jsontext.Value `json:"errors"`
	}
	switch {
	case json.Unmarshal(answer, &parts, halvesAllowed, jsontext.AllowDuplicateNames(true)) != nil:
	case parts.Data == nil: // it was refused before it ran
		s.write(ctx, socketMessage{ID: &id, Type: "error", Payload: parts.Errors})
	case s.write(ctx, socketMessage{ID: &id, Type: "next", Payload: answer}):
		s.write(ctx, socketMessage{ID: &id, Type: "complete"})
	}
}

// follow sends the answers of a source until it ends.
func (s *socket) follow(ctx context.Context, cancel context.CancelFunc, id string, source streamSource) {
	defer cancel()
	defer source.Close()
	for {
		answer, err := source.Next(ctx)
		var end *streamEnd
		switch {
		case errors.As(err, &end):
			s.write(ctx, socketMessage{ID: &id, Type: "error", Payload: end.Errors})
			return
		case err != nil:
			s.write(ctx, socketMessage{ID: &id, Type: "complete"})
			return
		case !s.next(ctx, id, answer):
			return
		}
	}
}

// write sends a message of an operation, or of the socket, by its context. It reports whether that
// succeeded.
func (s *socket) write(ctx context.Context, m socketMessage) bool {
	out, ends := []byte("{"), ""
	if m.ID != nil {
		out = fmt.Appendf(out, `"id":%s,`, quotedID(*m.ID))
		if m.Type != "next" {
			ends = *m.ID
		}
	}
	out = fmt.Appendf(out, `"type":%q`, m.Type)
	if !m.empty() {
		out = fmt.Appendf(out, `,"payload":%s`, m.Payload)
	}
	out = append(out, '}')
	return s.send(ctx, ends, func(ctx context.Context) error {
		if len(out) <= maxFrame {
			return s.conn.Write(ctx, websocket.MessageText, out)
		}
		return s.inFrames(ctx, func(w io.Writer) error { _, err := w.Write(out); return err })
	})
}

// next sends an answer of a subscription. It does not copy the answer, which other subscribers may
// share.
func (s *socket) next(ctx context.Context, id string, a streamAnswer) bool {
	return s.send(ctx, "", func(ctx context.Context) error {
		return s.inFrames(ctx, func(w io.Writer) error {
			return a.writeBetween(w, `{"id":`+string(quotedID(id))+`,"type":"next","payload":`, "}")
		})
	})
}

// inFrames sends what is written as one message, in frames of at most maxFrame.
func (s *socket) inFrames(ctx context.Context, write func(io.Writer) error) error {
	w, err := s.conn.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	return errors.Join(write(frames{w}), w.Close())
}

// frames is a message, each write to which is a frame.
type frames struct{ io.Writer }

// Write implements [io.Writer].
func (f frames) Write(p []byte) (n int, err error) {
	for frame := range slices.Chunk(p, maxFrame) {
		written, err := f.Writer.Write(frame)
		if n += written; err != nil {
			return n, err
		}
	}
	return n, nil
}

// send sends a message in its turn, unless the context of its operation has ended: completed by the
// client, which may have begun another with that id. An id that the message ends is free before the
// client can know.
func (s *socket) send(of context.Context, ends string, write func(context.Context) error) bool {
	if s.sending.Acquire(of, 1) != nil {
		return false
	}
	defer s.sending.Release(1)
	s.mu.Lock()
	open := of.Err() == nil
	if open {
		delete(s.operations, ends)
	}
	s.mu.Unlock()
	if !open {
		return false
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.timing.Stall)
	defer cancel()
	if write(ctx) != nil {
		_ = s.conn.CloseNow() // it may have ended within a message, and no other can follow
		return false
	}
	return true
}

func quotedID(id string) []byte {
	out, _ := json.Marshal(id) // a string always can be
	return out
}
