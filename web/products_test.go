package web

import (
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// askProduct requests a page of a server whose API gives one answer, with header lines.
func askProduct(t *testing.T, answer, method, path string, lines ...string) *http.Response {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, answer) })
	return askOf(Options{}.Handler(api), method, path, lines...)
}

const (
	oneProduct = `{"data":{"product":{"id":"42","stats":{"total":0},"list":{"nodes":[]}}}}`
	noProduct  = `{"data":{"product":null},"errors":[{"path":["product"],"extensions":{"code":"BAD_INPUT"}}]}`
	noAnswer   = `{"errors":[{"extensions":{"code":"OVERLOADED"}}]}`
)

func TestProductPage(t *testing.T) {
	etag := askProduct(t, oneProduct, "GET", "/products/42").Header.Get("ETag")
	for _, row := range []struct {
		answer, method, path, header string
		status                       int
		cache                        string
		reason                       string
	}{
		{oneProduct, "GET", "/products/42", "", 200, "no-cache", "a page"},
		{oneProduct, "GET", "/products/a%2Fb", "", 200, "no-cache", "an id with a slash"},
		{oneProduct, "GET", "/products/element", "", 200, "no-cache", "an id that is the name of the inside"},
		{oneProduct, "HEAD", "/products/42", "", 200, "no-cache", "a link checker"},
		{oneProduct, "GET", "/products/42", "If-None-Match: " + etag, 304, "no-cache", "the browser has it"},
		{oneProduct, "GET", "/products/42", "If-None-Match: W/\"other\"", 200, "no-cache", "the browser has another one"},
		{oneProduct, "POST", "/products/42", "", 405, "", "pages are only read"},
		{noProduct, "GET", "/products/c_1", "", 404, "no-store", "an id that no product can have"},
		{noAnswer, "GET", "/products/42", "", 503, "no-store", "the API is down"},
		{noAnswer, "GET", "/products/42", "If-None-Match: *", 503, "no-store", "an error is not what the browser has"},
		{oneProduct, "GET", "/products/a/b", "", 404, "no-store", "no id has two segments"},
		{oneProduct, "GET", "/products", "", 404, "no-store", "no list of products"},
		{oneProduct, "GET", "/nothing", "", 404, "no-store", "nobody's path"},
	} {
		answer := askProduct(t, row.answer, row.method, row.path, row.header)
		body, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != row.status || answer.Header.Get("Cache-Control") != row.cache {
			t.Errorf("%s: %s %s is %d, %q; want %d, %q", row.reason, row.method, row.path,
				answer.StatusCode, answer.Header.Get("Cache-Control"), row.status, row.cache)
		}
		if empty := row.method == "HEAD" || row.status == 304; empty != (len(body) == 0) {
			t.Errorf("%s: %d bytes", row.reason, len(body))
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: Content-Security-Policy %q", row.reason, policy)
		}
		if row.method == "GET" && row.status == 404 && !strings.Contains(string(body), `href="/"`) {
			t.Errorf("%s: no way on from here: %s", row.reason, body)
		}
	}
}

// The policy allows the page's one style, which is whole, and no other.
func TestProductPolicy(t *testing.T) {
	answer := askProduct(t, oneProduct, "GET", "/products/42")
	style := must.Get(os.ReadFile("component/dist/component.css"))(t)
	sum := sha256.Sum256(style)
	want := "style-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	if got := answer.Header.Get("Content-Security-Policy"); !strings.Contains(got, want) || strings.Contains(got, "unsafe") {
		t.Errorf("Content-Security-Policy %q, want %q in it", got, want)
	}
	body, _ := io.ReadAll(answer.Body)
	if strings.Count(string(body), "<style>"+string(style)+"</style>") != 1 || strings.Contains(string(style), "</") {
		t.Error("the page does not have the style, or the style ends its own element")
	}
}

// A page is sent gzipped to clients that accept it, with the same content.
func TestProductPageIsCompressed(t *testing.T) {
	plain := askProduct(t, oneProduct, "GET", "/products/42")
	packed := askProduct(t, oneProduct, "GET", "/products/42", "Accept-Encoding: gzip")
	plainBody, _ := io.ReadAll(plain.Body)
	packedBody, _ := io.ReadAll(packed.Body)
	if packed.Header.Get("Content-Encoding") != "gzip" || unpacked(t, packedBody) != string(plainBody) || len(packedBody) >= len(plainBody) {
		t.Errorf("%d bytes are sent as %d, %q", len(plainBody), len(packedBody), packed.Header.Get("Content-Encoding"))
	}
	if plain.ContentLength != int64(len(plainBody)) || packed.ContentLength != int64(len(packedBody)) {
		t.Error("Content-Length is not that of the body")
	}
	if vary := strings.Join(packed.Header.Values("Vary"), ","); vary != "Accept-Language, Accept-Encoding, X-Forwarded-Proto" {
		t.Errorf("Vary %q", vary)
	}
}

// counting is a response recorder that adds up the sizes held for its clients.
type counting struct {
	*httptest.ResponseRecorder
	held int
}

func (c *counting) Hold(size int) { c.held += size }

// A page is counted as what is sent of it; a file, which is there once for all, is not.
func TestPagesAreCounted(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, oneProduct) })
	for path, counted := range map[string]bool{"/products/42": true, "/nothing": true, "/": false, "/talkback.js": false} {
		w := &counting{ResponseRecorder: httptest.NewRecorder()}
		Options{}.Handler(api).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		if want := w.Body.Len(); counted != (w.held == want) || !counted && w.held != 0 {
			t.Errorf("%s: %d bytes are counted, %d are sent", path, w.held, want)
		}
	}
}

// Links that have to be whole name the host that the page was asked by, and no other text.
func TestCanonicalAddress(t *testing.T) {
	for host, want := range map[string]string{"shop.example": "http://shop.example", "evil\"><script>": "http://localhost:8080"} {
		api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, oneProduct) })
		r := httptest.NewRequest("GET", "/products/42", nil)
		r.Host = host
		w := httptest.NewRecorder()
		Options{}.Handler(api).ServeHTTP(w, r)
		if body := w.Body.String(); !strings.Contains(body, `<link rel="canonical" href="`+want+`/products/42">`) || strings.Contains(body, host+"/") != (host == "shop.example") {
			t.Errorf("asked by %q: %s", host, body)
		}
	}
}
