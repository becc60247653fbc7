// Package streams sends the events of subscriptions: by the protocol graphql-transport-ws over WebSocket, as
// server-sent events by graphql-sse in the mode of distinct connections, and as the parts of a multipart answer as
// Apollo's clients read it. Of GraphQL, it knows only the form of answers.
package streams

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

// Source is a subscription that has begun. One goroutine uses it.
type Source interface {
	// Next waits for the next answer. The error is an *End, or that of the context.
	Next(ctx context.Context) (Answer, error)
	// Position returns the position up to which the client has received all events; empty if answers wait for it, or there
	// are no positions.
	Position() string
	// Close ends the subscription.
	Close()
}

// Answer is an answer in parts: its members in JSON, empty if absent. An event has the position after it in place of
// extensions.
type Answer struct {
	Data, Errors, Extensions []byte
	Position                 string
}

// WriteBetween writes the answer in JSON between two texts. It does not copy the answer.
func (a Answer) WriteBetween(w io.Writer, before, after string) error {
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

// End is why the server ends a subscription. Errors are sent to the client, in JSON.
type End struct {
	Errors []byte
}

// Error implements error.
func (*End) Error() string { return "the server ended the subscription" }

// Timing has the intervals and timeouts of streams. Zero means the default.
type Timing struct {
	// Heartbeat is the time between two signs of life on an idle stream.
	Heartbeat time.Duration
	// Stall is how long a client may take to read a message, or that of a socket to send one.
	Stall time.Duration
	// Init is how long the client of a socket may take to send connection_init.
	Init time.Duration
}

// WithDefaults returns t with defaults in place of zeros.
func (t Timing) WithDefaults() Timing {
	t.Heartbeat, t.Stall, t.Init = cmp.Or(t.Heartbeat, 15*time.Second), cmp.Or(t.Stall, 20*time.Second), cmp.Or(t.Init, 10*time.Second)
	return t
}

// Form is how a stream is written over HTTP.
type Form struct {
	ContentType string
	begin       string
	heartbeat   string
	// at is a heartbeat with a position; nil for a form that has none.
	at func(position string) string
	// before and after stand around an answer.
	before func(Answer) string
	after  string
	// broken returns the last errors, and the end of the stream. A stream of events just ends: its client reconnects with the
	// id of the last event.
	broken func(errors []byte) string
}

// FormOf returns the form that a request accepts for a stream, nil if it accepts none. A multipart answer
// has to be asked for by its specification: other clients name multipart/mixed for @defer.
func FormOf(header http.Header) *Form {
	var found *Form
	for _, list := range header.Values("Accept") {
		for part := range strings.SplitSeq(list, ",") {
			name, parameters, err := mime.ParseMediaType(part)
			q, missing := strconv.ParseFloat(parameters["q"], 64)
			switch {
			case err != nil || q == 0 && missing == nil:
			case name == "multipart/mixed" && parameters["subscriptionspec"] != "":
				return &multipart
			case name == "text/event-stream":
				found = &Events
			}
		}
	}
	return found
}

// Events are server-sent events by graphql-sse: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md.
var Events = Form{
	ContentType: "text/event-stream; charset=utf-8",
	begin:       ":\n\n",
	heartbeat:   ":\n\n",
	at:          func(position string) string { return "id: " + position + "\n\n" }, // clients ignore an event without data
	before: func(a Answer) string {
		if a.Position == "" {
			return "event: next\ndata: "
		}
		return "event: next\nid: " + a.Position + "\ndata: "
	},
	after: "\n\n",
}

// Complete is the event that ends a stream whose operation is over.
const Complete = "event: complete\ndata:\n\n"

// The parts of a multipart answer. The delimiter follows a part at once: a client finds the end of a part only by the
// delimiter after it.
const (
	delimiter = "\r\n--graphql"
	partHead  = "\r\nContent-Type: application/json\r\n\r\n"
)

// multipart is https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol.
var multipart = Form{
	ContentType: `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`,
	begin:       delimiter + partHead + "{}" + delimiter,
	heartbeat:   partHead + "{}" + delimiter,
	before:      func(Answer) string { return partHead + `{"payload":` },
	after:       "}" + delimiter,
	broken: func(errors []byte) string {
		return partHead + `{"payload":null,"errors":` + string(errors) + "}" + delimiter + "--\r\n"
	},
}

// Send sends the answers of a source until the context ends, the client goes away, or the source ends. At each
// heartbeat, even of a busy stream, and as soon as stopping ends, it asks ended whether the stream must end.
func (f *Form) Send(ctx, stopping context.Context, w http.ResponseWriter, source Source, timing Timing, ended func(stopping context.Context) *End) {
	timing = timing.WithDefaults()
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // a request's deadline is too early; a test's recorder has none
	w.Header().Set("Content-Type", f.ContentType)
	w.Header().Set("X-Accel-Buffering", "no") // nginx would keep events back
	write := func(write func() error) error {
		_ = control.SetWriteDeadline(time.Now().Add(timing.Stall))
		if err := write(); err != nil {
			return err
		}
		return control.Flush()
	}
	send := func(a Answer) error {
		return write(func() error { return a.WriteBetween(w, f.before(a), f.after) })
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
		var end *End
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
			_ = send(Answer{Errors: end.Errors})
			return
		}
		_ = text(f.broken(end.Errors))
		return
	}
}

// sign returns a sign of life, with the position from which the client can resume if it is known.
func (f *Form) sign(source Source, plain string) string {
	if f.at == nil {
		return plain
	}
	if position := source.Position(); position != "" {
		return f.at(position)
	}
	return plain
}
