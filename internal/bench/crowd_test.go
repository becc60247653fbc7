package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// crowd is how many connections send requests at the same time.
const crowd = 16

// connection is a client's connection to a program.
type connection struct {
	net.Conn
	answers *bufio.Reader
	room    bytes.Buffer // holds an answer until the next
}

func (p *program) dial() (*connection, error) {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, answers: bufio.NewReaderSize(conn, 64<<10)}, nil
}

// connect opens a connection, which is closed when the test ends.
func (p *program) connect(tb testing.TB) *connection {
	tb.Helper()
	conn := must.Get(p.dial())(tb)
	tb.Cleanup(func() { _ = conn.Close() }) // nothing is left to send
	return conn
}

// send returns the answer to a request, which is valid until the next call.
func (c *connection) send(tb testing.TB, body []byte) []byte {
	tb.Helper()
	must.Do(tb, c.begin(body))
	return must.Get(c.end())(tb)
}

// begin sends a request in one write, as a client with few requests does.
func (c *connection) begin(body []byte) error {
	request := fmt.Appendf(nil, "POST /graphql HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		c.RemoteAddr(), len(body), body)
	_, err := c.Write(request)
	return err
}

func (c *connection) end() ([]byte, error) {
	response, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return nil, err
	}
	c.room.Reset()
	if _, err := io.Copy(&c.room, response.Body); err != nil {
		return nil, err
	}
	answer := c.room.Bytes()
	return answer, checkAnswer(response.StatusCode, answer)
}

// serve sends count requests to a program, and returns what the program used for them. Each
// connection of the crowd sends its share, one after the other. The connections are new each time:
// Node.js closes those that idle while others have their turns.
func (p *program) serve(tb testing.TB, requests [][]byte, count int) usage {
	tb.Helper()
	before := p.ask(tb, askUsage)
	var group errgroup.Group
	for number := range crowd {
		group.Go(func() error {
			conn, err := p.dial()
			if err != nil {
				return err
			}
			defer conn.Close()
			for ; number < count; number += crowd {
				if err := conn.begin(requests[number%len(requests)]); err != nil {
					return err
				}
				if _, err := conn.end(); err != nil {
					return fmt.Errorf("%s: %w", p.name, err)
				}
			}
			return nil
		})
	}
	must.Do(tb, group.Wait())
	return p.ask(tb, askUsage).since(before)
}
