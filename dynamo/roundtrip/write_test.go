package roundtrip

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// oddities are what a request may have that is not usual.
var oddities = map[string]func(*http.Request){
	"no port":         func(r *http.Request) { r.URL.Host = "dynamodb.eu-west-1.amazonaws.com" },
	"an address":      func(r *http.Request) { r.URL.Host = "[::1]:80" },
	"a zone":          func(r *http.Request) { r.URL.Host = "[fe80::1%25en0]:80" },
	"letters":         func(r *http.Request) { r.URL.Host = "é.test" },
	"capitals":        func(r *http.Request) { r.URL.Host = "A.test" },
	"bytes":           func(r *http.Request) { r.URL.Host = "a\r\nb.test" },
	"no host":         func(r *http.Request) { r.URL.Host = "" },
	"the same host":   func(r *http.Request) { r.Host = r.URL.Host },
	"another host":    func(r *http.Request) { r.Host = "other.test" },
	"no path":         func(r *http.Request) { r.URL.Path = "" },
	"a path":          func(r *http.Request) { r.URL.Path = "/a b/é" },
	"a query":         func(r *http.Request) { r.URL.RawQuery = "a=b" },
	"a broken query":  func(r *http.Request) { r.URL.RawQuery = "\x01" },
	"an empty query":  func(r *http.Request) { r.URL.ForceQuery = true },
	"opaque":          func(r *http.Request) { r.URL.Opaque = "//x/y" },
	"broken":          func(r *http.Request) { r.URL.Opaque = "//x/\x01" },
	"two values":      func(r *http.Request) { r.Header["X-Amz-Target"] = []string{"a", "b"} },
	"spaces":          func(r *http.Request) { r.Header["X-Amz-Target"] = []string{" b\t"} },
	"an empty value":  func(r *http.Request) { r.Header["X-Amz-Target"] = []string{""} },
	"a small letter":  func(r *http.Request) { r.Header["x-amz-date"] = []string{"é"} },
	"a header's host": func(r *http.Request) { r.Header["Host"] = []string{"a"} },
	"another length":  func(r *http.Request) { r.Header["Content-Length"] = []string{"7"} },
	"connection":      func(r *http.Request) { r.Header["Connection"] = []string{"close"} },
	"coded":           func(r *http.Request) { r.Header["Transfer-Encoding"] = []string{"chunked"} },
	"announced":       func(r *http.Request) { r.Header["Trailer"] = []string{"A"} },
	"chunks":          func(r *http.Request) { r.TransferEncoding = []string{"chunked"} },
	"a trailer":       func(r *http.Request) { r.Trailer = http.Header{"A": {"b"}} },
	"no agent":        func(r *http.Request) { delete(r.Header, "User-Agent") },
	"an empty agent":  func(r *http.Request) { r.Header["User-Agent"] = []string{""} },
	"two agents":      func(r *http.Request) { r.Header["User-Agent"] = []string{"a", "b"} },
	"another method":  func(r *http.Request) { r.Method = "PUT" },
	"no method":       func(r *http.Request) { r.Method = "" },
	"close":           func(r *http.Request) { r.Close = true },
	"a long body":     func(r *http.Request) { setText(r, strings.Repeat("x", 9000)) },
	"a short body":    func(r *http.Request) { r.ContentLength++ },
	"too much body":   func(r *http.Request) { r.ContentLength-- },
}

// oddRequest returns a usual request with oddities.
func oddRequest(odd ...string) *http.Request {
	request := &http.Request{
		Method: "POST", URL: &url.URL{Scheme: "http", Host: "table.test:8000", Path: "/"},
		Header: http.Header{"User-Agent": {"sdk"}, "X-Amz-Target": {"Query"}, "Accept-Encoding": {"identity"}},
	}
	setText(request, "{}")
	for _, name := range odd {
		oddities[name](request)
	}
	return request
}

func setText(request *http.Request, body string) {
	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader([]byte(body))), int64(len(body))
}

// lines are those of a request's head, sorted but for the first two, and its body.
func lines(raw []byte) []string {
	head, body, _ := strings.Cut(string(raw), "\r\n\r\n")
	all := strings.Split(head, "\r\n")
	slices.Sort(all[min(2, len(all)):])
	return append(all, body)
}

// A request has the lines that net/http writes, in another order, or both refuse it: with any two
// oddities.
func TestHeadsAreThoseOfNetHTTP(t *testing.T) {
	if !plain(oddRequest()) {
		t.Error("a usual request is left to net/http")
	}
	for one := range oddities {
		for other := range oddities {
			var ours, theirs bytes.Buffer
			w := bufio.NewWriter(&ours)
			err := write(w, oddRequest(one, other))
			_ = w.Flush() // to memory
			if want := oddRequest(one, other).Write(&theirs); (err == nil) != (want == nil) {
				t.Errorf("%s, %s: %v, want %v", one, other, err, want)
			} else if err == nil && !slices.Equal(lines(ours.Bytes()), lines(theirs.Bytes())) {
				t.Errorf("%s, %s: %q\nnet/http: %q", one, other, ours.String(), theirs.String())
			}
		}
	}
}
