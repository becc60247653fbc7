package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"
)

// answer is an answer until it is handed to Lambda. It implements [http.ResponseWriter] as net/http
// does over a connection.
type answer struct {
	header http.Header
	status int // 0 until it is known
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter]. The first status counts, unless it is one that
// announces another.
func (a *answer) WriteHeader(status int) {
	if a.status == 0 && status >= http.StatusOK {
		a.status = status
	}
}

// Write implements [http.ResponseWriter].
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if _, typed := a.header["Content-Type"]; !typed && a.header.Get("Content-Encoding") == "" {
		a.header.Set("Content-Type", http.DetectContentType(p))
	}
	return a.body.Write(p)
}

// end completes the answer to a request of a method: what net/http adds, and what it does not send.
func (a *answer) end(method string) {
	a.WriteHeader(http.StatusOK)
	a.header.Del("Connection") // Lambda has none to a client
	if a.body.Len() > 0 && a.header.Get("Content-Length") == "" {
		a.header.Set("Content-Length", strconv.Itoa(a.body.Len()))
	}
	if method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified {
		a.body.Reset()
	}
}

// refuse replaces the answer. It keeps the headers by which a page of another origin may read it.
func (a *answer) refuse(r *refusal) {
	for name := range a.header {
		if name != "Vary" && name != "X-Request-Id" && !strings.HasPrefix(name, "Access-Control-") {
			a.header.Del(name)
		}
	}
	text, err := json.Marshal(map[string]any{"errors": []any{map[string]any{"message": r.message, "extensions": map[string]string{"code": r.code}}}})
	if err != nil {
		panic(err) // texts can always be encoded
	}
	a.header.Set("Content-Type", "application/json; charset=utf-8")
	a.header.Set("Cache-Control", "no-store")
	a.status = r.status
	a.body.Reset()
	a.body.Write(text)
}

// text returns the body as a text, which is base64 if it is none.
func (a *answer) text() (body string, inBase64 bool) {
	if a.body.Len() == 0 || a.header.Get("Content-Encoding") == "" && utf8.Valid(a.body.Bytes()) {
		return a.body.String(), false
	}
	return base64.StdEncoding.EncodeToString(a.body.Bytes()), true
}

// joined returns the headers with one value each.
func (a *answer) joined() map[string]string {
	out := make(map[string]string, len(a.header))
	for name, values := range a.header {
		out[name] = strings.Join(values, ", ")
	}
	return out
}
