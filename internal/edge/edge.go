// Package edge says which answers caches that many clients share may keep, such as those of a CDN, and
// under which tags they are purged.
package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strings"
	"time"
)

// MaxProducts is about how many products an answer may be that shared caches keep. Its tags take two
// headers of 1 KB then; nginx takes 4 KB of headers in all unless it is told otherwise.
const MaxProducts = 50

// Sharing is for how long shared caches may keep an answer, rounded up to seconds. As long again, they may
// show it while they ask for another one. 0 lets them keep none.
type Sharing time.Duration

// Allow lets shared caches keep an answer that is the same for everyone and about some products. It
// reports false, and leaves the header alone, if they may not. Browsers ask each time.
func (s Sharing) Allow(header http.Header, products []string) bool {
	seconds := int(math.Ceil(time.Duration(s).Seconds()))
	if seconds == 0 || len(products) == 0 || len(products) > MaxProducts {
		return false
	}
	tags := make([]string, len(products))
	for i, product := range products {
		tags[i] = Tag(product)
	}
	header.Set("Cache-Control", fmt.Sprintf("public, max-age=0, s-maxage=%d, stale-while-revalidate=%[1]d", seconds))
	header.Set("Surrogate-Key", strings.Join(tags, " "))
	header.Set("Cache-Tag", strings.Join(tags, ","))
	return true
}

// Allowed reports whether shared caches may keep the answer with a header.
func Allowed(header http.Header) bool {
	return strings.HasPrefix(header.Get("Cache-Control"), "public,")
}

// Tag returns the tag of a product: "tb-" and the first 16 hexadecimal digits of the SHA-256 of its id.
// Ids may hold spaces, commas and capital letters, which the tags of a CDN cannot tell apart.
func Tag(product string) string {
	sum := sha256.Sum256([]byte(product))
	return "tb-" + hex.EncodeToString(sum[:8])
}

// OneVary makes one line of all lines of the header Vary. Some caches heed only one of them.
func OneVary(header http.Header) {
	if lines := header.Values("Vary"); len(lines) > 1 {
		header.Set("Vary", strings.Join(lines, ", "))
	}
}
