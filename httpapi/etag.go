package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/talkback/talkback/httpapi/limits"
	"github.com/talkback/talkback/internal/edge"
)

// maxShared bounds the memory of sharedAnswers, in bytes.
const maxShared = 4 << 20

// sharedAnswers remembers the ETags of answers that shared caches may keep. A cache that asks with
// the ETag of an answer whose products are proven unchanged gets its 304 without a read. The nil
// sharedAnswers remembers nothing.
type sharedAnswers struct {
	// unchanged is Options.Unchanged.
	unchanged func(products []string, began time.Time) bool

	mu    sync.Mutex
	kept  *simplelru.LRU[sharedKey, sharedAnswer]
	bytes int
}

// sharedKey identifies an answer by a hash of everything in the request that it depends on, and by
// its ETag. The same data has several ETags, since an answer reports its cost.
type sharedKey struct {
	request [sha256.Size]byte
	tag     string
}

// sharedAnswer is an answer that shared caches may keep, or the request for one.
type sharedAnswer struct {
	of       *sharedAnswers
	key      sharedKey // without a tag until it is known
	products []string  // nil if it may not be kept
	began    time.Time
}

func newSharedAnswers(unchanged func(products []string, began time.Time) bool) *sharedAnswers {
	if unchanged == nil {
		return nil
	}
	s := &sharedAnswers{unchanged: unchanged}
	kept, err := simplelru.NewLRU(maxShared/sharedAnswer{}.size(), func(_ sharedKey, dropped sharedAnswer) { s.bytes -= dropped.size() })
	if err != nil {
		panic(err) // the size is a constant
	}
	s.kept = kept
	return s
}

// size is about how many bytes an answer takes in memory.
func (a sharedAnswer) size() int {
	size := 400
	for _, product := range a.products {
		size += 16 + len(product)
	}
	return size
}

// record returns the record of an answer to a request. It has the ETag and the products if the
// client names an ETag whose answer is proven unchanged. It returns nil for an answer that can
// change while its products do not.
//
// The hash covers the text that runs, so a trusted document with a new text is another request.
func (s *sharedAnswers) record(r *http.Request, operation *graphql.OperationContext, began time.Time) *sharedAnswer {
	if !limits.Steady(operation) {
		return nil
	}
	request, err := json.Marshal([]any{
		operation.RawQuery, operation.OperationName, operation.Variables, r.Header.Values("Accept"), r.Header.Values("Accept-Encoding"),
	})
	if err != nil {
		return nil
	}
	asked := &sharedAnswer{of: s, key: sharedKey{request: sha256.Sum256(request)}, began: began}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, tag := range edge.ETags(r.Header.Values("If-None-Match")) {
		answer, found := s.kept.Get(sharedKey{asked.key.request, tag})
		if found && s.unchanged(answer.products, answer.began) {
			return &answer
		}
	}
	return asked
}

// confirmed reports whether an answer is known to be the one that the client has.
func (a *sharedAnswer) confirmed() bool { return a != nil && a.key.tag != "" }

// keep remembers an answer under the ETag in its header. It skips an answer that is not proven
// unchanged yet: a server that does not read the whole stream remembers nothing.
func (a *sharedAnswer) keep(header http.Header) {
	if a == nil || a.products == nil || !edge.Allowed(header) || !a.of.unchanged(a.products, a.began) {
		return
	}
	s := a.of
	a.key.tag = header.Get("ETag")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept.Remove(a.key)
	s.kept.Add(a.key, *a)
	for s.bytes += a.size(); s.bytes > maxShared; {
		s.kept.RemoveOldest()
	}
}

const (
	// revalidate is the Cache-Control of a good answer to a GET that shared caches may not keep:
	// see [edge.Sharing]. The client may keep it but has to revalidate it before each use, which
	// the ETag makes cheap: comments change at any moment.
	revalidate = "private, no-cache"
	// nowhere is the Cache-Control of an answer to a GET with a token, which may be a personal
	// view.
	nowhere = "private, no-store"
)

// setETag gives an answer a strong ETag, and reports whether the client has the answer already.
// It does so only for an answer that may be kept.
//
// The tag is made from the bytes that are sent, after compression, and from the headers that say
// how to read them: each coding and each type has its own tag.
func setETag(answer http.Header, body []byte, ifNoneMatch []string) (match bool) {
	if answer.Get("Cache-Control") != revalidate && !edge.Allowed(answer) {
		return false
	}
	sum := sha256.New()
	sum.Write([]byte(answer.Get("Content-Type") + "\n" + answer.Get("Content-Encoding") + "\n"))
	sum.Write(body)
	tag := `"` + base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:16]) + `"`
	answer.Set("ETag", tag)
	return edge.Matches(ifNoneMatch, tag)
}
