package roundtrip

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// dynamoHead is a head as DynamoDB writes it.
const dynamoHead = "HTTP/1.1 200 OK\r\nServer: Server\r\nDate: Mon, 23 Nov 2026 05:00:00 GMT\r\nContent-Type: application/x-amz-json-1.0\r\n" +
	"Content-Length: 5\r\nConnection: keep-alive\r\nx-amzn-RequestId: ABC\r\nx-amz-crc32: 1\r\n\r\n"

// oddHeads are what heads may have that is not usual, or looks so.
var oddHeads = []string{
	"HTTP/1.1 200 OK\r\n", "HTTP/1.1 200\r\n", "HTTP/1.1 200 \r\n", "HTTP/1.1  200 OK\r\n", "HTTP/1.0 200 OK\r\n", "HTTP/1.1 2000 OK\r\n", "HTTP/1.1 +20 OK\r\n",
	"HTTP/1.1 204 No Content\r\n", "HTTP/1.1 304 Not Modified\r\n", "HTTP/1.1 100 Continue\r\n", "HTTP/1.1 500 é\r\n", "HTTP/1.1 999 odd  one\r\n", "http/1.1 200 OK\r\n",
	"Content-Length: 5\r\n", "content-length:5\r\n", "Content-Length: 005\r\n", "Content-Length: +5\r\n", "Content-Length: 5, 5\r\n", "Content-Length: 0\r\n",
	"Content-Length: 9223372036854775808\r\n", "Content-Length:\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: identity\r\n", "Trailer: A\r\n",
	"Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: Keep-Alive, close\r\n", "Pragma: no-cache\r\n", "X-A: 1\r\n", "X-A: 2\r\n", "x-a:  two spaces \r\n",
	"X-A:\ttab\r\n", "X-A : 1\r\n", " X-A: 1\r\n", "X_A: 1\r\n", "X-A\r\n", ": 1\r\n", "X-A: \x01\r\n", "X-A: é\r\n", "X-A: 1\n", "X-A: 1\r\r\n", "\r\n", "\n", "X-A: a: b\r\n",
	"x-amzn-RequestId: A\r\n", "X-AMZN-REQUESTID: A\r\n", "x-amz-crc32: 1\r\n",
}

// whole is an answer, read to its end.
type whole struct {
	Response      http.Response
	Body, Error   string
	Left          string // in the reader
	Failed, NoOne bool
}

func read(r *bufio.Reader, response *http.Response, err error) whole {
	if err != nil {
		return whole{Failed: true}
	}
	w := whole{Response: *response, NoOne: response.Body == http.NoBody}
	body, err := io.ReadAll(response.Body)
	left, _ := io.ReadAll(r) // from memory
	w.Body, w.Error, w.Left, w.Response.Body = string(body), fmt.Sprint(err), string(left), nil
	return w
}

// checkHead compares an answer with net/http's.
func checkHead(t *testing.T, raw string) {
	t.Helper()
	request := oddRequest()
	for name, from := range map[string]func() io.Reader{
		"at once":       func() io.Reader { return strings.NewReader(raw) },
		"byte by byte":  func() io.Reader { return iotest.OneByteReader(strings.NewReader(raw)) },
		"with an error": func() io.Reader { return iotest.TimeoutReader(iotest.HalfReader(strings.NewReader(raw))) },
	} {
		ours, theirs := bufio.NewReader(from()), bufio.NewReader(from())
		response, err := readHead(ours, request)
		got := read(ours, response, err)
		response, err = http.ReadResponse(theirs, request)
		if want := read(theirs, response, err); !reflect.DeepEqual(got, want) {
			t.Errorf("%q %s:\n%+v\nnet/http:\n%+v", raw, name, got, want)
		}
	}
}

// Heads are read as net/http reads them, with any three oddities.
func TestHeadsAreReadAsByNetHTTP(t *testing.T) {
	if usualHead(bufio.NewReader(strings.NewReader(dynamoHead))) == nil {
		t.Error("a head of DynamoDB is left to net/http")
	}
	for _, first := range oddHeads[:13] {
		for _, one := range oddHeads {
			for _, other := range oddHeads {
				checkHead(t, first+one+other+"\r\nhello, world")
			}
		}
	}
	checkHead(t, dynamoHead+"hello")
	checkHead(t, dynamoHead+"hell")
}

func FuzzHead(f *testing.F) {
	f.Add(dynamoHead + "hello")
	for _, odd := range oddHeads {
		f.Add("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + odd + "\r\nhello")
	}
	f.Fuzz(checkHead)
}

// BenchmarkHead is what reading a head and its short body takes.
//
//	go test ./dynamo/roundtrip -run '^$' -bench Head
func BenchmarkHead(b *testing.B) {
	for name, readHead := range map[string]func(*bufio.Reader, *http.Request) (*http.Response, error){"here": readHead, "net-http": http.ReadResponse} {
		b.Run(name, func(b *testing.B) {
			raw, request := strings.NewReader(""), oddRequest()
			r := bufio.NewReader(raw)
			b.ReportAllocs()
			for b.Loop() {
				raw.Reset(dynamoHead + "hello")
				r.Reset(raw)
				response, err := readHead(r, request)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, response.Body); n != 5 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
