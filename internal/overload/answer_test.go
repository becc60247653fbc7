package overload

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answerOf reads an HTTP/1.1 answer of which some bytes have arrived. An error means that it is not
// whole yet. Last is whether the server closes the connection afterwards.
func answerOf(got []byte, closed bool) (status int, last bool, err error) {
	if !bytes.Contains(got, []byte("\r\n\r\n")) {
		return 0, false, io.ErrUnexpectedEOF
	}
	rest := bytes.NewReader(got)
	from := bufio.NewReader(rest)
	for {
		response, err := http.ReadResponse(from, nil)
		if err != nil {
			return 0, false, err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return 0, false, err
		}
		untilClose := response.ContentLength < 0 && response.TransferEncoding == nil
		switch {
		case response.StatusCode < http.StatusOK: // another answer follows
			continue
		case untilClose && !closed:
			return 0, false, io.ErrUnexpectedEOF
		case from.Buffered()+rest.Len() > 0:
			return 0, false, errors.New("something follows the answer")
		}
		return response.StatusCode, response.Close, nil
	}
}

// answering serves answers of all kinds, by path.
func answering() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "short") })
	mux.HandleFunc("/refused", refuse)
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) }) // in chunks
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

// An answer is whole with its last byte, and not before.
func TestAnswer(t *testing.T) {
	for _, row := range []struct {
		head, body string
		last       bool
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "short", false},
		{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", false},
		{"HTTP/1.1 204 No Content\r\n\r\n", "", false},
		{"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 9000\r\n\r\n", strings.Repeat("x", 9000), false},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nhello\r\n0\r\nSum: 5\r\n\r\n", false},
		{"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n", "hinted", false},
		{"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 12\r\n\r\n", "the last one", true},
	} {
		all := []byte(row.head + row.body)
		for n := range all {
			if status, _, err := answerOf(all[:n], true); err == nil {
				t.Fatalf("%q is taken for a whole answer of status %d", all[:n], status)
			}
		}
		status, last, err := answerOf(all, false)
		if want := row.head[strings.LastIndex(row.head, "HTTP/1.1 ")+9:][:3]; err != nil || fmt.Sprint(status) != want || last != row.last {
			t.Errorf("%.60q: status %d, last %t, %v", all, status, last, err)
		}
		if _, _, err := answerOf(append(all, 'x'), false); err == nil {
			t.Errorf("%.60q is an answer with a letter after it", all)
		}
	}
	const untilClose = "HTTP/1.1 200 OK\r\n\r\nuntil the connection ends"
	if _, _, err := answerOf([]byte(untilClose), false); err == nil {
		t.Error("an answer is whole though its connection is open")
	}
	if _, last, err := answerOf([]byte(untilClose), true); err != nil || !last {
		t.Errorf("an answer whose connection is closed: last %t, %v", last, err)
	}
}
