package httpapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"time"
)

// revalidate is what a good answer to a GET says about being kept: by whoever asked, and to be asked for again each time,
// which the ETag makes cheap. Comments change at any moment, and a cache in between would hand answers to those who could not have
// asked for them here.
const revalidate = "private, no-cache"

// withETag gives answers to GET that may be kept a strong ETag, and answers 304 to those who have them. The tag is that of the
// bytes that go out, so this stands outside of the compression: each coding and each type has a tag of its own without anyone
// having to see to it.
func withETag(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldAnswer{header: w.Header(), status: http.StatusOK}
		next.ServeHTTP(held, r)
		if held.status != http.StatusOK || held.header.Get("Cache-Control") != revalidate {
			w.WriteHeader(held.status)
			_, _ = held.body.WriteTo(w) // a client that went away needs no answer
			return
		}
		held.header.Set("ETag", held.tag())
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(held.body.Bytes()))
	})
}

// heldAnswer is an answer that is not sent yet.
type heldAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements [http.ResponseWriter].
func (a *heldAnswer) Header() http.Header { return a.header }

// WriteHeader implements [http.ResponseWriter].
func (a *heldAnswer) WriteHeader(status int) { a.status = status }

// Write implements [http.ResponseWriter].
func (a *heldAnswer) Write(p []byte) (int, error) { return a.body.Write(p) }

// tag is a strong ETag: of the bytes and of what says how to read them.
func (a *heldAnswer) tag() string {
	sum := sha256.New()
	sum.Write([]byte(a.header.Get("Content-Type") + "\n" + a.header.Get("Content-Encoding") + "\n"))
	sum.Write(a.body.Bytes())
	return `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`
}
