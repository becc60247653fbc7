// Package edge decides which answers shared caches such as CDNs may keep, the tags by which they
// are purged, which answers a client has already, and how much it wants a type or a coding.
package edge

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"
)

// MaxProducts is the maximum number of products in an answer that shared caches keep. With that
// many, the tags take two headers of 1 KB; nginx accepts 4 KB of headers in total by default.
const MaxProducts = 50

// Sharing is how long shared caches may keep an answer, rounded up to seconds. For as long again,
// they may serve it while they revalidate it. 0 forbids caching.
type Sharing time.Duration

// Allow lets shared caches keep an answer that is the same for everyone and about some products. If
// they may not, it returns false and does not change the header. Browsers revalidate each time.
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

// Allowed reports whether a header lets shared caches keep the answer.
func Allowed(header http.Header) bool {
	return strings.HasPrefix(header.Get("Cache-Control"), "public,")
}

// Tag returns the tag of a product: "tb-" and the first 16 hexadecimal digits of the SHA-256 of its
// id. Ids may contain spaces, commas and capital letters, which CDNs do not distinguish in tags.
func Tag(product string) string {
	sum := sha256.Sum256([]byte(product))
	return "tb-" + hex.EncodeToString(sum[:8])
}

// OneVary joins all Vary headers into one. Some caches heed only one of them.
func OneVary(header http.Header) {
	if lines := header.Values("Vary"); len(lines) > 1 {
		header.Set("Vary", strings.Join(lines, ", "))
	}
}

// Matches reports whether If-None-Match headers name an answer's ETag, by the weak comparison of
// RFC 9110, 13.1.2: the W/ of either side is ignored.
func Matches(ifNoneMatch []string, etag string) bool {
	named := ETags(ifNoneMatch)
	return slices.Contains(named, "*") || slices.Contains(named, strings.TrimPrefix(etag, "W/"))
}

// ETags returns the tags in If-None-Match headers, as strong tags. Tags of this server hold no
// comma, so it does no harm to cut a foreign tag in two.
func ETags(ifNoneMatch []string) []string {
	tags := strings.Split(strings.Join(ifNoneMatch, ","), ",")
	for i, tag := range tags {
		tags[i] = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
	}
	return tags
}
