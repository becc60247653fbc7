package httpapi

import (
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// streamSource is a subscription that has begun. One goroutine uses it.
type streamSource interface {
	// Next waits for the next answer. The error is a *streamEnd, or that of the context.
	Next(ctx context.Context) (streamAnswer, error)
	// Position returns the position up to which the client has received all events; empty if answers
	// wait for it, or there are no positions.
	Position() string
	// Close ends the subscription.
	Close()
}

// streamAnswer is an answer in parts: its members in JSON, empty if absent. An event has the
// position after it in place of extensions.
type streamAnswer struct {
	Data, Errors, Extensions []byte
	Position                 string
}

// writeBetween writes the answer in JSON between two texts. It does not copy the answer.
func (a streamAnswer) writeBetween(w io.Writer, before, after string) error {
	parts, separator := net.Buffers{[]byte(before)}, "{"
	add := func(name string, value []byte) {
		if len(value) > 0 {
			parts = append(parts, []byte(separator+`"`+name+`":`), value)
			separator = ","
		}
	}
	add("errors", a.Errors)
	add("data", a.Data)
	if a.Position != "" {
		a.Extensions = []byte(`{"position":"` + a.Position + `"}`)
	}
	add("extensions", a.Extensions)
	parts = append(parts, []byte("}"+after))
	_, err := parts.WriteTo(w)
	return err
}

// streamEnd is why the server ends a subscription. Errors are sent to the client, in JSON.
type streamEnd struct {
	Errors []byte
}

// Error implements error.
func (*streamEnd) Error() string { return "the server ended the subscription" }

// StreamTiming has the intervals and timeouts of streams. Zero means the default.
type StreamTiming struct {
	// Heartbeat is the time between two signs of life on an idle stream.
	Heartbeat time.Duration
	// Stall is how long a client may take to read a message, or that of a socket to send one.
	Stall time.Duration
	// Init is how long the client of a socket may take to send connection_init.
	Init time.Duration
}

// withDefaults returns t with defaults in place of zeros.
func (t StreamTiming) withDefaults() StreamTiming {
	t.Heartbeat, t.Stall, t.Init = cmp.Or(t.Heartbeat, 15*time.Second), cmp.Or(t.Stall, 20*time.Second), cmp.Or(t.Init, 10*time.Second)
	return t
}

// streamForm is how a stream is written over HTTP.
type streamForm struct {
	contentType string
	begin       string
	heartbeat   string
	// at is a heartbeat with a position; nil for a form that has none.
	at func(position string) string
	// before and after stand around an answer.
	before func(streamAnswer) string
	after  string
	// broken returns the last errors, and the end of the stream. A stream of events just ends: its
	// client reconnects with the id of the last event.
	broken func(errors []byte) string
}

// streamFormOf returns the form that a request accepts for a stream, nil if it accepts none. A
// multipart answer has to be asked for by its specification: other clients name multipart/mixed for
// @defer.
func streamFormOf(header http.Header) *streamForm {
	var found *streamForm
	for _, list := range header.Values("Accept") {
		for part := range strings.SplitSeq(list, ",") {
			name, parameters, err := mime.ParseMediaType(part)
			q, missing := strconv.ParseFloat(parameters["q"], 64)
			switch {
			case err != nil || q == 0 && missing == nil:
			case name == "multipart/mixed" && parameters["subscriptionspec"] != "":
				return &multipartStream
			case name == "text/event-stream":
				found = &eventStream
			}
		}
	}
	return found
}

// eventStream is server-sent events by graphql-sse in the mode of distinct connections:
// https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md.
var eventStream = streamForm{
	contentType: "text/event-stream; charset=utf-8",
	begin:       ":\n\n",
	heartbeat:   ":\n\n",
	at:          func(position string) string { return "id: " + position + "\n\n" }, // clients ignore an event without data
	before: func(a streamAnswer) string {
		if a.Position == "" {
			return "event: next\ndata: "
		}
		return "event: next\nid: " + a.Position + "\ndata: "
	},
	after: "\n\n",
}

// completeEvent is the event that ends a stream whose operation is over.
const completeEvent = "event: complete\ndata:\n\n"

// The parts of a multipart answer. The delimiter follows a part at once: a client finds the end of
// a part only by the delimiter after it.
const (
	partDelimiter = "\r\n--graphql"
	partHead      = "\r\nContent-Type: application/json\r\n\r\n"
)

// multipartStream is
// https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol.
var multipartStream = streamForm{
	contentType: `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`,
	begin:       partDelimiter + partHead + "{}" + partDelimiter,
	heartbeat:   partHead + "{}" + partDelimiter,
	before:      func(streamAnswer) string { return partHead + `{"payload":` },
	after:       "}" + partDelimiter,
	broken: func(errors []byte) string {
		return partHead + `{"payload":null,"errors":` + string(errors) + "}" + partDelimiter + "--\r\n"
	},
}

// send sends the answers of a source until the context ends, the client goes away, or the source
// ends. At each heartbeat, even of a busy stream, and as soon as stopping ends, it asks ended
// whether the stream must end.
func (f *streamForm) send(ctx, stopping context.Context, w http.ResponseWriter, source streamSource, timing StreamTiming, ended func(stopping context.Context) *streamEnd) {
	timing = timing.withDefaults()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a request's deadline is too early; a test's recorder has none
	w.Header().Set("Content-Type", f.contentType)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	write := func(write func() error) error {
		_ = control.SetWriteDeadline(time.Now().Add(timing.Stall))
		if err := write(); err != nil {
			return err
		}
		return control.Flush()
	}
	send := func(a streamAnswer) error {
		return write(func() error { return a.writeBetween(w, f.before(a), f.after) })
	}
	text := func(s string) error {
		return write(func() error { _, err := io.WriteString(w, s); return err })
	}
	if text(f.sign(source, f.begin)) != nil {
		return
	}
	next, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(stopping, cancel)()
	due := time.Now().Add(timing.Heartbeat)
	for {
		waiting, over := context.WithDeadline(next, due)
		answer, err := source.Next(waiting)
		over()
		var end *streamEnd
		switch {
		case err == nil:
			if send(answer) != nil {
				return
			}
			if time.Now().Before(due) {
				continue
			}
			end = ended(stopping)
		case ctx.Err() != nil:
			return
		case !errors.As(err, &end):
			if end = ended(stopping); end == nil && text(f.sign(source, f.heartbeat)) != nil {
				return
			}
		}
		if end == nil {
			due = time.Now().Add(timing.Heartbeat)
			continue
		}
		if f.broken == nil {
			_ = send(streamAnswer{Errors: end.Errors})
			return
		}
		_ = text(f.broken(end.Errors))
		return
	}
}

// sign returns a sign of life, with the position from which the client can resume if it is known.
func (f *streamForm) sign(source streamSource, plain string) string {
	if f.at == nil {
		return plain
	}
	if position := source.Position(); position != "" {
		return f.at(position)
	}
	return plain
}
