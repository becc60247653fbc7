package roundtrip

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
)

// readHead reads the head of an answer as net/http does. A usual head is read here, all others by
// net/http.
func readHead(r *bufio.Reader, request *http.Request) (*http.Response, error) {
	response := usualHead(r)
	if response == nil {
		return http.ReadResponse(r, request)
	}
	response.Request = request
	return response, nil
}

// headEnd is what a head ends with.
const headEnd = lineEnd + lineEnd

const lineEnd = "\r\n"

// usualHead reads a head that came at once and needs no decision: the body has a length, and the
// connection is kept. It returns nil for any other, and then leaves it in the reader.
func usualHead(r *bufio.Reader) *http.Response {
	if _, err := r.Peek(1); err != nil {
		return nil
	}
	came, _ := r.Peek(r.Buffered()) // never fails
	end := bytes.Index(came, []byte(headEnd))
	if end < 0 {
		return nil
	}
	response := parseHead(string(came[:end]))
	if response == nil {
		return nil
	}
	_, _ = r.Discard(end + len(headEnd)) // never fails
	if response.Body = http.NoBody; response.ContentLength > 0 {
		response.Body = &sized{r, response.ContentLength}
	}
	return response
}

// parseHead parses a usual head without its end, nil for any other.
func parseHead(head string) *http.Response {
	line, fields, _ := strings.Cut(head, lineEnd)
	status, isHTTP := strings.CutPrefix(line, "HTTP/1.1 ")
	number, _, _ := strings.Cut(status, " ")
	code, err := strconv.ParseUint(number, 10, 16)
	if !isHTTP || err != nil || len(number) != 3 || code < 200 || code == http.StatusNoContent || code == http.StatusNotModified || !plainText(status) {
		return nil
	}
	header := parseFields(fields)
	if header == nil {
		return nil
	}
	length, err := strconv.ParseUint(header.Get("Content-Length"), 10, 63)
	if err != nil {
		return nil
	}
	return &http.Response{
		Status: status, StatusCode: int(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: header, ContentLength: int64(length),
	}
}

// parseFields parses the fields of a usual head, nil for any other.
func parseFields(fields string) http.Header {
	count := strings.Count(fields, lineEnd) + 1
	header, values := make(http.Header, count), make([]string, count)
	for i := range values {
		var line string
		line, fields, _ = strings.Cut(fields, lineEnd)
		name, value, isField := strings.Cut(line, ":")
		name, value = canonical(name), strings.TrimPrefix(value, " ")
		if _, twice := header[name]; twice || !isField || decisive(name, value) || !plainText(value) {
			return nil
		}
		values[i] = value
		header[name] = values[i : i+1 : i+1]
	}
	return header
}

// canonical returns the canonical name of a field, empty if it has other characters than letters,
// digits and hyphens.
func canonical(name string) string {
	switch name { // those that DynamoDB sends
	case "Server", "Date", "Content-Type", "Content-Length", "Connection":
		return name
	case "x-amzn-RequestId":
		return "X-Amzn-Requestid"
	case "x-amz-crc32":
		return "X-Amz-Crc32"
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	return textproto.CanonicalMIMEHeaderKey(name)
}

// decisive reports whether a field decides how an answer is read, beside its length, or has no
// canonical name.
func decisive(name, value string) bool {
	switch name {
	case "", "Transfer-Encoding", "Trailer", "Pragma":
		return true
	case "Connection":
		return value != "keep-alive"
	}
	return false
}

// plainText reports whether a text is ASCII without control characters, and does not begin or end
// with a space.
func plainText(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return text == "" || text[0] != ' ' && text[len(text)-1] != ' '
}

// sized is a body that has a length.
type sized struct {
	from *bufio.Reader
	left int64
}

// Read implements [io.Reader].
func (s *sized) Read(p []byte) (int, error) {
	n, err := s.from.Read(p[:min(int64(len(p)), s.left)])
	s.left -= int64(n)
	switch {
	case s.left == 0:
		return n, io.EOF
	case err == io.EOF:
		return n, io.ErrUnexpectedEOF
	}
	return n, err
}

// Close implements [io.Closer]. What is left stays in the reader.
func (s *sized) Close() error { return nil }
