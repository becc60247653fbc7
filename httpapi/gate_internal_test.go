package httpapi

import (
	"net"
	"net/http"
	"testing"
	"time"
)

// dated is a connection that keeps its deadlines.
type dated struct {
	net.Conn
	read, write time.Time
}

// SetReadDeadline implements [net.Conn].
func (d *dated) SetReadDeadline(t time.Time) error { d.read = t; return nil }

// SetWriteDeadline implements [net.Conn].
func (d *dated) SetWriteDeadline(t time.Time) error { d.write = t; return nil }

// Write implements [net.Conn].
func (d *dated) Write(p []byte) (int, error) { return len(p), nil }

// An answer of the gate has the deadlines that net/http would set, and so has the request after it.
func TestDeadlinesOfTheGate(t *testing.T) {
	for _, test := range []struct {
		server      *http.Server
		read, write time.Duration
		why         string
	}{
		{&http.Server{ReadTimeout: time.Minute, WriteTimeout: time.Hour, IdleTimeout: 2 * time.Minute}, 2 * time.Minute, time.Hour, "all are set"},
		{&http.Server{ReadTimeout: time.Minute}, time.Minute, 0, "the time to read holds for idle connections, too"},
		{&http.Server{}, 0, 0, "there are none"},
	} {
		conn, before := &dated{}, time.Now()
		(&connection{Conn: conn, all: &Connections{server: test.server}}).answer([]byte("no"))
		for _, got := range []struct {
			at    time.Time
			lasts time.Duration
		}{{conn.read, test.read}, {conn.write, test.write}} {
			if want := before.Add(got.lasts); got.at.IsZero() != (got.lasts == 0) || got.lasts > 0 && (got.at.Before(want) || got.at.After(want.Add(time.Since(before)))) {
				t.Errorf("until %v, want %v after %v: %s", got.at, got.lasts, before, test.why)
			}
		}
	}
}
