package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"iter"
	"net/http"
	"strings"

	"github.com/talkback/talkback/internal/edge"
)

const (
	// revalidate is the Cache-Control of a good answer to a GET that shared caches may not keep: see
	// [edge.Sharing]. The client may keep it but has to revalidate it before each use, which the ETag
	// makes cheap: comments change at any moment.
	revalidate = "private, no-cache"
	// nowhere is that of the answer to a GET with a token, which may be anyone's view.
	nowhere = "private, no-store"
)

// unchanged gives an answer a strong ETag, and reports whether the client has the answer already.
// It does so only for an answer that may be kept.
//
// The tag is made from the bytes that are sent, after compression, and from the headers that say how
// to read them: each coding and each type has its own tag.
func unchanged(answer http.Header, body []byte, ifNoneMatch []string) bool {
	if answer.Get("Cache-Control") != revalidate && !edge.Allowed(answer) {
		return false
	}
	sum := sha256.New()
	sum.Write([]byte(answer.Get("Content-Type") + "\n" + answer.Get("Content-Encoding") + "\n"))
	sum.Write(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`
	answer.Set("ETag", tag)
	return matches(ifNoneMatch, tag)
}

// matches reports whether an If-None-Match header names a tag, by the weak comparison of RFC 9110,
// 13.1.2. Tags of this server hold no comma, so it does no harm to cut a foreign tag in two.
func matches(ifNoneMatch []string, tag string) bool {
	for named := range tagsIn(ifNoneMatch) {
		if named == "*" || named == tag {
			return true
		}
	}
	return false
}

// tagsIn returns what an If-None-Match header names, as strong tags.
func tagsIn(ifNoneMatch []string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for named := range strings.SplitSeq(strings.Join(ifNoneMatch, ","), ",") {
			if !yield(strings.TrimPrefix(strings.TrimSpace(named), "W/")) {
				return
			}
		}
	}
}
