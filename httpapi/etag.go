package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
)

// revalidate is what a good answer to a GET says about being kept: by the client that asked, and to be asked for again each time,
// which the ETag makes cheap. Comments change at any moment, and a cache in between would hand answers to those who could not have
// asked for them here.
const revalidate = "private, no-cache"

// revalidate gives an answer to GET that may be kept a strong ETag, and empties one that the client has: 304. The tag is that of
// the bytes that go out, after compression: each coding and each type has a tag of its own.
func (a *builtAnswer) revalidate(request http.Header) {
	if a.status != http.StatusOK || a.Header().Get("Cache-Control") != revalidate {
		return
	}
	tag := a.tag()
	a.Header().Set("ETag", tag)
	if !matches(request.Values("If-None-Match"), tag) {
		return
	}
	a.status = http.StatusNotModified
	a.body.Reset()
	a.Header().Del("Content-Type")
	a.Header().Del("Content-Encoding")
}

// tag is a strong ETag: of the bytes and of what says how to read them.
func (a *builtAnswer) tag() string {
	sum := sha256.New()
	sum.Write([]byte(a.Header().Get("Content-Type") + "\n" + a.Header().Get("Content-Encoding") + "\n"))
	sum.Write(a.body.Bytes())
	return `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`
}

// matches tells whether an If-None-Match header names a tag, as RFC 9110, 13.1.2, compares them: weakly. Our tags hold no
// comma, so another's may be cut in two without harm.
func matches(ifNoneMatch []string, tag string) bool {
	for named := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
		named = strings.TrimSpace(named)
		if named == "*" || strings.TrimPrefix(named, "W/") == tag {
			return true
		}
	}
	return false
}
