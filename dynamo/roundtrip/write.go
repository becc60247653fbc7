package roundtrip

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/textproto"
	"strconv"
)

// errLength is the error of a request whose body is not as long as it says.
var errLength = errors.New("the body is not as long as its request says")

// write writes a request as net/http does, but for the order of its header. It leaves what is
// unusual to net/http.
func write(w *bufio.Writer, request *http.Request) error {
	if !plain(request) {
		return request.Write(w)
	}
	writeStrings(w, request.Method, " ", request.URL.RequestURI(), " HTTP/1.1\r\nHost: ", request.URL.Host, "\r\nContent-Length: ")
	_, _ = w.Write(strconv.AppendInt(w.AvailableBuffer(), request.ContentLength, 10))
	for name, values := range request.Header {
		if name == "Content-Length" || name == "Host" {
			continue
		}
		for _, value := range values {
			writeStrings(w, "\r\n", name, ": ", textproto.TrimString(value))
		}
	}
	writeStrings(w, "\r\n\r\n")
	length, err := io.Copy(w, request.Body)
	if err == nil && length != request.ContentLength {
		err = errLength
	}
	return errors.Join(err, request.Body.Close())
}

// writeStrings writes texts. An error stays in the writer.
func writeStrings(w *bufio.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = w.WriteString(text)
	}
}

// plain reports whether nothing of a request's head needs a decision: which host it names, whether the
// connection is kept, who sends it. Its header is valid.
func plain(request *http.Request) bool {
	agent := request.Header["User-Agent"]
	return len(agent) == 1 && agent[0] != "" && request.Method == http.MethodPost && request.ContentLength > 0 && !request.Close &&
		request.TransferEncoding == nil &&
		request.Header["Transfer-Encoding"] == nil && request.Header["Trailer"] == nil &&
		request.URL.Opaque == "" && request.URL.RawQuery == "" &&
		(request.Host == "" || request.Host == request.URL.Host) && plainHost(request.URL.Host)
}

// plainHost reports whether a host is written as it is, with its port.
func plainHost(host string) bool {
	for i := range len(host) {
		switch c := host[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '.', c == '-', c == ':':
		default:
			return false
		}
	}
	return true
}
