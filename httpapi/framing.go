package httpapi

import (
	"bytes"
	"net/http"
)

// framing follows which bytes of a connection belong to which request of HTTP/1.1, by what is read and
// by what net/http makes of it. The zero one is of a connection that has just been opened.
type framing struct {
	head  head
	begun bool  // bytes of the request were read
	body  int64 // bytes that were read after its head
	wants int64 // bytes that its body has; -1 if it comes in chunks, which are not followed
	last  byte  // the last byte that was read
	plain bool  // the requests are of HTTP/1.1, without TLS
	lost  bool  // where the next request begins is unknown from now on
}

// add follows bytes that net/http is given.
func (f *framing) add(read []byte) {
	if f.lost {
		return
	}
	f.begun, f.last = true, read[len(read)-1]
	f.body += int64(len(read) - f.head.add(read))
}

// enter follows that net/http has read the head of a request.
func (f *framing) enter(r *http.Request) {
	f.plain, f.wants = r.ProtoMajor == 1 && r.TLS == nil, r.ContentLength
	f.lost = f.lost || !f.plain || !f.head.ended
}

// end follows that net/http waits for the next request. It may have a byte of that already, by its look
// for whether the client hangs up. If it has more of what the client has sent in advance, where that
// ends is unknown. A request that was not entered counts as one without a body: if it had one, it seems
// as if more had come.
func (f *framing) end() {
	last, early := f.last, f.body-f.wants
	*f = framing{plain: f.plain, lost: f.lost || early < 0 || early > 1}
	if early == 1 {
		f.add([]byte{last})
	}
}

// between reports whether the next byte to be read is the first of a request.
func (f *framing) between() bool { return f.plain && !f.lost && !f.begun }

// head finds the end of a request's head, which is an empty line. Lines end with a line feed, and a
// carriage return before that is not of the line.
// https://datatracker.ietf.org/doc/html/rfc9112#section-2.2
type head struct {
	ended  bool
	length int  // bytes of the present line so far
	cr     bool // its first byte is a carriage return
}

// add returns how many of the bytes that were read next are of the head.
func (h *head) add(read []byte) (bytesOfHead int) {
	for !h.ended && bytesOfHead < len(read) {
		rest := read[bytesOfHead:]
		if h.length == 0 {
			h.cr = rest[0] == '\r'
		}
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			h.length += len(rest)
			return len(read)
		}
		h.length += end
		h.ended = h.length == 0 || h.length == 1 && h.cr
		h.length = 0
		bytesOfHead += end + 1
	}
	return bytesOfHead
}
