package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"sync"

	"github.com/talkback/talkback/internal/edge"
)

// contentTypes are the content types by file extension. The system's own table is not used, since
// it differs between hosts.
var contentTypes = map[string]string{
	".css":     "text/css; charset=utf-8",
	".graphql": "text/plain; charset=utf-8", // browsers show this type, and would download another
	".html":    "text/html; charset=utf-8",
	".ico":     "image/x-icon",
	".js":      "text/javascript; charset=utf-8",
	".json":    "application/json",
	".svg":     "image/svg+xml",
	".ttf":     "font/ttf",
	".txt":     "text/plain; charset=utf-8",
	".webp":    "image/webp",
}

// asset is one file, gzipped and not. The form that is not embedded is made for the first client
// that takes it, and stays: all files together are some megabytes, and unpacking the largest takes
// 9 ms.
type asset struct {
	packed      func() []byte
	unpacked    func() []byte
	contentType string // by its name
	etag        string // of its content
	policy      string // Content-Security-Policy
	cache       string // Cache-Control
	anywhere    bool   // pages of other origins may load it
}

// newAsset returns the file of that name.
func newAsset(name string, content []byte, policy, cache string) *asset {
	file := namedAsset(name, content, policy, cache)
	file.packed, file.unpacked = sync.OnceValue(func() []byte { return pack(content) }), func() []byte { return content }
	return file
}

// packedAsset returns the file of that name, whose content our own build has gzipped.
func packedAsset(name string, packed []byte, policy, cache string) *asset {
	file := namedAsset(name, packed, policy, cache)
	file.packed = func() []byte { return packed }
	file.unpacked = sync.OnceValue(func() []byte { return mustHave(io.ReadAll(mustHave(gzip.NewReader(bytes.NewReader(packed))))) })
	return file
}

// namedAsset returns a file that has no content yet. Its entity tag is a hash of made, from which
// the content is made.
func namedAsset(name string, made []byte, policy, cache string) *asset {
	contentType, ok := contentTypes[path.Ext(name)]
	if !ok {
		panic(fmt.Sprintf("web: no content type for %q", path.Ext(name)))
	}
	sum := sha256.Sum256(made)
	etag := `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"` // weak, since the packed and the unpacked bytes share it
	return &asset{contentType: contentType, etag: etag, policy: policy, cache: cache}
}

// mustHave returns a value that is made of embedded files or constants, or of what can always be
// encoded, and panics if they are wrong.
func mustHave[T any](made T, err error) T {
	if err != nil {
		panic(err)
	}
	return made
}

// pack returns content gzipped, as small as it gets.
func pack(content []byte) []byte {
	return packBy(mustHave(gzip.NewWriterLevel(nil, gzip.BestCompression)), content)
}

func packBy(w *gzip.Writer, content []byte) []byte {
	var packed bytes.Buffer
	w.Reset(&packed)
	// A buffer returns no error.
	_, _ = w.Write(content)
	_ = w.Close()
	return packed.Bytes()
}

// ServeHTTP answers GET and HEAD.
func (a *asset) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	writePolicies(header, a.policy)
	header.Set("Cache-Control", a.cache)
	header.Set("ETag", a.etag)
	header.Add("Vary", "Accept-Encoding")
	if a.anywhere {
		header.Set("Access-Control-Allow-Origin", "*")
		header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	}
	if edge.Matches(r.Header.Values("If-None-Match"), a.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	header.Set("Content-Type", a.contentType)
	content := a.unpacked
	if acceptsGzip(r.Header.Values("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		content = a.packed
	}
	body := content()
	header.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	// A failure here is a client that went away. The headers are sent, so it cannot be reported.
	_, _ = w.Write(body)
}

// writePolicies sets the headers that restrict what a browser may do. Every answer has them.
func writePolicies(header http.Header, policy string) {
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
}

// acceptsGzip reports whether an Accept-Encoding header allows gzip: by name, by its old name, or
// by "*" when the name is absent.
func acceptsGzip(acceptEncoding []string) bool {
	q, _ := edge.Weight(acceptEncoding, "gzip")
	old, named := edge.Weight(acceptEncoding, "x-gzip")
	return q > 0 || named && old > 0
}

const (
	// homePolicy allows the home page its style sheet, its picture and the script that copies, and
	// nothing else.
	homePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// productPolicy allows a product page the element's script, which calls the API, and files of the
	// shop's layout on this host: style sheets, scripts, pictures, fonts, and a form such as a search.
	// The verbs are the hash of the only inline style, and the origins of pictures and videos.
	productPolicy = "default-src 'none'; script-src 'self'; style-src 'self' '%s'; img-src 'self'%s; font-src 'self'; connect-src 'self'; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

	// deskPolicy allows the script of the page for moderators to call the API. The browser submits no
	// form itself, so a token never gets into an address. The verb is the origin of pictures.
	deskPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'%s; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// explorerPolicy is as narrow as the editor allows, which sets inline styles, shows icons from a
	// font and from data: addresses, and runs workers. Scripts come from this host only, and none is
	// inline.
	explorerPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"font-src 'self' data:; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// mustAsk makes a browser revalidate its copy before each use. The ETag makes that cheap.
	mustAsk = "no-cache"

	// forGood is for files whose names change with their content.
	forGood = "public, max-age=31536000, immutable"
)
