package overload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// answer parses an HTTP/1.1 answer as its bytes arrive. It keeps the status, and where the answer
// ends: https://datatracker.ietf.org/doc/html/rfc9112#section-6.3.
type answer struct {
	status int
	last   bool // the server closes the connection afterwards

	part    part
	line    []byte // the part of a line that has arrived
	left    int64  // bytes of the body, or of a chunk, that are still to come
	length  int64  // as announced, -1 if not
	chunked bool
}

// part is the part of an answer that the next byte belongs to.
type part int

const (
	statusLine part = iota
	fields
	counted    // a body of a known length
	untilClose // a body that ends with the connection
	chunkSize
	chunk
	chunkEnd
	trailer
	complete
)

// longestLine is more than the length in bytes of any expected line of a head.
const longestLine = 16 << 10

var (
	errCut       = errors.New("the answer was cut")
	errMalformed = errors.New("the answer is no HTTP/1.1")
)

// take reads the bytes that have arrived, and returns those after the answer.
func (a *answer) take(p []byte) (after []byte, err error) {
	for len(p) > 0 && a.part != complete && err == nil {
		switch a.part {
		case counted, chunk:
			n := min(a.left, int64(len(p)))
			a.left -= n
			p = p[n:]
			if a.left == 0 {
				a.bodyRead()
			}
		case untilClose:
			p = nil
		default:
			p, err = a.takeLine(p)
		}
	}
	return p, err
}

func (a *answer) bodyRead() {
	if a.part == chunk {
		a.part = chunkEnd
	} else {
		a.part = complete
	}
}

// closed ends the input.
func (a *answer) closed() error {
	if a.part != untilClose {
		return errCut
	}
	a.part = complete
	return nil
}

func (a *answer) takeLine(p []byte) (after []byte, err error) {
	line, after, ended := bytes.Cut(p, []byte("\n"))
	if !ended || len(a.line) > 0 {
		a.line = append(a.line, line...)
		line = a.line
	}
	switch {
	case len(line) > longestLine:
		return nil, errMalformed
	case !ended:
		return nil, nil
	}
	a.line = a.line[:0]
	return after, a.read(bytes.TrimSuffix(line, []byte("\r")))
}

// read reads a line, without its line break.
func (a *answer) read(line []byte) error {
	switch a.part {
	case statusLine:
		return a.readStatus(line)
	case fields:
		if len(line) == 0 {
			return a.headRead()
		}
		return a.readField(line)
	case chunkSize:
		return a.readSize(line)
	case chunkEnd:
		a.part = chunkSize
		if len(line) > 0 {
			return errMalformed
		}
	default:
		if len(line) == 0 {
			a.part = complete
		}
	}
	return nil
}

func (a *answer) readStatus(line []byte) (err error) {
	const before, digits = len("HTTP/1.1 "), 3
	if len(line) < before+digits || !bytes.HasPrefix(line, []byte("HTTP/1.1 ")) {
		return errMalformed
	}
	a.status, err = strconv.Atoi(string(line[before : before+digits]))
	a.part, a.length, a.chunked = fields, -1, false
	return err
}

func (a *answer) readField(line []byte) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		a.length, err = strconv.ParseInt(string(value), 10, 64)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		a.chunked = bytes.EqualFold(value, []byte("chunked"))
	case bytes.EqualFold(name, []byte("Connection")):
		a.last = bytes.EqualFold(value, []byte("close"))
	}
	return err
}

// headRead decides how the body ends.
func (a *answer) headRead() error {
	switch {
	case a.status < http.StatusOK: // another answer follows
		a.part = statusLine
	case a.status == http.StatusNoContent, a.status == http.StatusNotModified:
		a.part = complete
	case a.chunked:
		a.part = chunkSize
	case a.length > 0:
		a.part, a.left = counted, a.length
	case a.length == 0:
		a.part = complete
	default:
		a.part, a.last = untilClose, true
	}
	return nil
}

func (a *answer) readSize(line []byte) (err error) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	if a.left, err = strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64); err != nil || a.left < 0 {
		return errMalformed
	}
	a.part = chunk
	if a.left == 0 {
		a.part = trailer
	}
	return nil
}

// answering serves answers of all kinds, by path.
func answering() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") })
	mux.HandleFunc("/refused", refuse)
	mux.HandleFunc("/empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) })
	mux.HandleFunc("/parts", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 5 {
			_, _ = fmt.Fprintf(w, "part %d\n%s", i, strings.Repeat("x", 1000*i))
			_ = http.NewResponseController(w).Flush()
		}
		w.Header().Set(http.TrailerPrefix+"Sum", "5")
	})
	mux.HandleFunc("/early", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, "hinted")
	})
	mux.HandleFunc("/last", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close")
		_, _ = io.WriteString(w, "the last one")
	})
	mux.HandleFunc("/closing", func(w http.ResponseWriter, _ *http.Request) {
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(connection, "HTTP/1.1 200 OK\r\n\r\nuntil the connection ends")
			_ = connection.Close() // nothing is lost
		}
	})
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, "not all")
		panic(http.ErrAbortHandler)
	})
	return mux
}

// kinds are the paths of whole answers, and their statuses.
var kinds = map[string]int{"/short": 200, "/refused": 503, "/empty": 200, "/nothing": 204, "/long": 200, "/parts": 200, "/early": 200, "/last": 200, "/closing": 200}

// lasts reports whether the connection closes after the answer of a path.
func lasts(path string) bool { return path == "/last" || path == "/closing" }

// dialed returns a connection to a test server.
func dialed(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	return must.Get(net.Dial("tcp", server.Listener.Addr().String()))(t)
}

// exchanged returns all bytes of a server's answer to a request.
func exchanged(t *testing.T, handler http.Handler, path string) []byte {
	t.Helper()
	server := httptest.NewServer(handler)
	defer server.Close()
	connection := dialed(t, server)
	defer connection.Close()
	must.Get(fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: x\r\n\r\nGET /gone HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", path))(t)
	return must.Get(io.ReadAll(connection))(t)
}

// An answer ends where net/http says it does, in however many pieces it arrives.
func TestAnswer(t *testing.T) {
	for path, status := range kinds {
		all := exchanged(t, answering(), path)
		size := len(all) - len(afterFirst(t, all))
		for _, piece := range []int{1, 2, 3, 7, 100, 4096, len(all)} {
			a, after := answer{}, all
			var err error
			for a.part != complete && err == nil && len(after) > 0 {
				n := min(piece, len(after))
				rest, failed := a.take(after[:n])
				err, after = failed, after[n-len(rest):]
			}
			if err == nil && a.part == untilClose {
				err = a.closed()
			}
			if err != nil || a.status != status || len(all)-len(after) != size || a.last != lasts(path) {
				t.Errorf("%s in pieces of %d: status %d, %d bytes, last %v, %v; want %d, %d", path, piece, a.status, len(all)-len(after), a.last, err, status, size)
			}
		}
	}
}

// afterFirst returns the bytes that net/http leaves after it has read one answer.
func afterFirst(t *testing.T, all []byte) []byte {
	t.Helper()
	from := bufio.NewReader(bytes.NewReader(all))
	for {
		response := must.Get(http.ReadResponse(from, nil))(t)
		must.Get(io.Copy(io.Discard, response.Body))(t)
		if response.StatusCode >= http.StatusOK {
			break
		}
	}
	return must.Get(io.ReadAll(from))(t)
}

// An answer that is cut or malformed is an error.
func TestNoAnswer(t *testing.T) {
	cut := exchanged(t, answering(), "/cut")
	for text, want := range map[string]error{
		string(cut): errCut,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n": errCut,
		"":               errCut,
		"HTTP/1.1 20":    errCut,
		"SSH-2.0-Open\n": errMalformed,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n":                         errMalformed,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n":                        errMalformed,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n":                   errMalformed,
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n":                                       strconv.ErrSyntax,
		"HTTP/1.1 200 OK\r\n" + strings.Repeat("x", longestLine+1):                           errMalformed,
		"HTTP/1.1 200 OK\r\n\r\n" + "until the end of the connection: this one is an answer": nil,
	} {
		var a answer
		_, err := a.take([]byte(text))
		if err == nil {
			err = a.closed()
		}
		if !errors.Is(err, want) {
			t.Errorf("%.60q: %v, want %v", text, err, want)
		}
	}
}
