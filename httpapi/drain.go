package httpapi

import (
	"context"
	"time"

	"github.com/talkback/talkback/internal/task"
)

const (
	// quietTime is for how long nobody must have used a connection before the server closes it at
	// its end. A client that uses a connection often has been told by then, by an answer.
	quietTime = time.Second
	// lookEvery is the time between two looks for quiet connections.
	lookEvery = 20 * time.Millisecond
)

// Stop announces the end of the server: from now on it is not ready. Requests are answered as before.
func (c *Connections) Stop() { c.stopping.Store(true) }

// Drain waits until the connections of HTTP/1.1 have ended: after their next answer, which says so, or
// once they are quiet. Answers over HTTP/2 end their connections by GOAWAY. It is called when no
// connections are accepted any more: clients that are told to connect anew are refused by then, and
// none is in the kernel's queue. It returns the context's error if that ends before.
//
// [http.Server.Shutdown] closes connections while a request may be arriving on them, and drops
// requests that it has just read. So it comes after Drain, which leaves it nothing but HTTP/2.
func (c *Connections) Drain(ctx context.Context) error {
	c.Stop()
	c.drain()
	for c.expireQuiet(time.Now()) > 0 {
		if err := task.Wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	return nil
}

// expireQuiet lets quiet connections end, and returns how many connections of HTTP/1.1 are open.
func (c *Connections) expireQuiet(now time.Time) (open int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		if conn.http2 {
			continue
		}
		open++
		if conn.use() == unused && now.Sub(conn.since) >= quietTime && !conn.expired {
			conn.expired = true
			_ = conn.Conn.SetReadDeadline(now) // it fails once the connection is closed
		}
	}
	return open
}
