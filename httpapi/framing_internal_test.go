package httpapi

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"
)

// The end of a head is where net/http takes it to be, in however many parts it comes.
func FuzzHead(f *testing.F) {
	const post = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcde"
	for _, seed := range []string{
		post, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", strings.ReplaceAll(post, "\r\n", "\n"), strings.Replace(post, "\r\n\r\n", "\n\r\n", 1),
		strings.Replace(post, "\r\n\r\n", "\r\n\n", 1), strings.Replace(post, "\r\n\r\n", "\r\r\n\r\n", 1), strings.Replace(post, "\r\n\r\n", "\r\n \r\n\r\n", 1),
		strings.Replace(post, "x\r\n", "x\r\n\ty\r\n \r\n", 1), strings.Replace(post, "x\r\n", "x\n \n", 1), strings.Replace(post, "x\r\n", "x\r\r\n", 1), "\r\n\r\n", "\n",
	} {
		f.Add([]byte(seed), uint8(1))
		f.Add([]byte(seed), uint8(200))
	}
	f.Fuzz(func(t *testing.T, sent []byte, part uint8) {
		under := bytes.NewReader(sent)
		reader := bufio.NewReaderSize(under, len(sent)+1)
		if _, err := http.ReadRequest(reader); err != nil {
			t.Skip()
		}
		var h head
		found := 0
		for rest := sent; len(rest) > 0; rest = rest[min(len(rest), int(part)+1):] {
			found += h.add(rest[:min(len(rest), int(part)+1)])
		}
		if want := len(sent) - under.Len() - reader.Buffered(); !h.ended || found != want {
			t.Errorf("%q: a head of %d bytes (ended: %v), want %d", sent, found, h.ended, want)
		}
	})
}

// Whether the next byte is the first of a request is known as long as no more was read than what
// net/http has asked for, but for one byte.
func TestFraming(t *testing.T) {
	const get, post = "GET /graphql?x HTTP/1.1\r\nHost: x\r\n\r\n", "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
	var (
		read  = func(text string) func(*framing) { return func(f *framing) { f.add([]byte(text)) } }
		enter = func(r http.Request) func(*framing) { return func(f *framing) { f.enter(&r) } }
		none  = enter(http.Request{ProtoMajor: 1})
		five  = enter(http.Request{ProtoMajor: 1, ContentLength: 5})
		end   = (*framing).end
	)
	for _, test := range []struct {
		steps   []func(*framing)
		between bool
		why     string
	}{
		{nil, false, "it may be of TLS or HTTP/2"},
		{[]func(*framing){read(get)}, false, "a request has been read that net/http has not"},
		{[]func(*framing){read(get), none}, false, "a request is in progress"},
		{[]func(*framing){read(get), none, end}, true, "it was a request in one part"},
		{[]func(*framing){read(get[:3]), read(get[3:]), none, end}, true, "it was one in two parts"},
		{[]func(*framing){read(post), five, read("abcde"), end}, true, "the body came by itself"},
		{[]func(*framing){read(post + "ab"), five, read("cd"), read("e"), end}, true, "the body came in parts"},
		{[]func(*framing){read(post + "abcd"), five, end}, false, "a byte of the body was not read"},
		{[]func(*framing){read(get + "PO"), none, end}, false, "net/http has two bytes of the next request"},
		{[]func(*framing){read(get), none, read("G"), end}, false, "net/http has one"},
		{[]func(*framing){read(get), none, read("G"), end, read(get[1:]), none, end}, true, "it has had one, and the rest came"},
		{[]func(*framing){read(get + get), none, end, none, end}, false, "where the second ended was not looked for"},
		{[]func(*framing){read(post), enter(http.Request{ProtoMajor: 1, ContentLength: -1}), read("0\r\n\r\n"), end, read(get), none, end}, false, "chunks are not followed"},
		{[]func(*framing){read(get), enter(http.Request{ProtoMajor: 2}), end}, false, "it is HTTP/2"},
		{[]func(*framing){read("\x16\x03"), none, end}, false, "what was read is no head: it is encrypted"},
	} {
		var f framing
		for _, step := range test.steps {
			step(&f)
		}
		if f.between() != test.between {
			t.Errorf("%v, though %s", f.between(), test.why)
		}
	}
}
