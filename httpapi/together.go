package httpapi

import (
	"bytes"
	"net/http"
)

// net/http writes an answer of more than 4 KB, its buffer, in two calls of the system: the head with
// the first bytes, then the rest. Each call costs as much as making the plan of a page.

const (
	// headRoom is about how many bytes the head of an answer has at most.
	headRoom = 512
	// serverBuffer is that of net/http. What it holds is written in one call.
	serverBuffer = 4 << 10
	// keptBody is the size of the largest answers, in bytes, that are gathered.
	keptBody = 16 << 10
)

// together has what is written to a connection written in one call of the system.
type together struct {
	connection *connection // nil to leave it to net/http
	room       int         // bytes that are occupied meanwhile
}

// togetherFor returns how to write an answer of so many bytes. A large one would be copied for little,
// a small one for nothing. In HTTP/2 and in TLS, others may write to the connection meanwhile.
func (c *connection) togetherFor(r *http.Request, size int) together {
	if r.ProtoMajor != 1 || r.TLS != nil || c.Conn == nil || size > keptBody || size+headRoom <= serverBuffer {
		return together{}
	}
	return together{c, size + headRoom}
}

// write calls a function that writes to the connection, and returns its error or that of writing.
func (t together) write(write func() error) error {
	c := t.connection
	if c == nil {
		return write()
	}
	c.gathered = bytes.NewBuffer(make([]byte, 0, t.room))
	err := write()
	gathered := c.gathered
	c.gathered = nil
	if err == nil && gathered.Len() > 0 {
		_, err = c.send(gathered.Bytes())
	}
	return err
}
