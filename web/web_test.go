package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// pages are the files that every test asks for, and handler serves them; both keep no state.
var (
	pages   = shared()
	handler = Options{}.Handler(noAPI)
	noAPI   = http.NotFoundHandler() // for pages that ask nothing
)

func unpacked(t *testing.T, packed []byte) string {
	t.Helper()
	r := must.Get(gzip.NewReader(bytes.NewReader(packed)))(t)
	return string(must.Get(io.ReadAll(r))(t))
}

// ask sends one request, with header lines such as "Accept-Encoding: gzip".
func ask(method, path string, lines ...string) *http.Response {
	return askOf(handler, method, path, lines...)
}

func askOf(handler http.Handler, method, path string, lines ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for _, line := range lines {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w.Result()
}

// body is the body of the answer to a GET.
func body(t *testing.T, path string) string {
	t.Helper()
	return string(must.Get(io.ReadAll(ask("GET", path).Body))(t))
}

// A service of several handlers keeps the pages once.
func TestPagesAreMadeOnce(t *testing.T) {
	if made := testing.AllocsPerRun(10, func() { shared() }); made != 0 {
		t.Errorf("another handler costs %v allocations, want none: the pages are there", made)
	}
	if another := (Options{}).Handler(noAPI).(site); another.static["/home.css"] != handler.(site).static["/home.css"] {
		t.Error("another handler has pages of its own")
	}
}

// A file that is requested without gzip is decompressed once, not for each request.
func TestUnpackedOnce(t *testing.T) {
	for path := range pages {
		ask("GET", path)
		r := httptest.NewRequest("GET", path, nil)
		if made := testing.AllocsPerRun(5, func() { handler.ServeHTTP(discard{http.Header{}}, r) }); made > 30 {
			t.Errorf("%s: %v allocations for another answer, want those of its headers", path, made)
		}
	}
}

// discard takes an answer and keeps nothing of it.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) WriteHeader(int)             {}
func (d discard) Write(p []byte) (int, error) { return len(p), nil }

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		method, path string
		want         int
		reason       string
	}{
		{"GET", "/", 200, "the home page"},
		{"HEAD", "/", 200, "HEAD is GET without a body"},
		{"GET", "/home.css", 200, "what the home page needs"},
		{"GET", "/product.css", 200, "what the product page needs"},
		{"GET", "/home.js", 200, "what copies code"},
		{"GET", "/moderation", 200, "the page for moderators"},
		{"GET", "/moderation.css", 200, "what the page for moderators needs"},
		{"GET", "/moderation.js", 200, "what asks for the queue"},
		{"POST", "/moderation", 405, "no form goes to the page"},
		{"GET", "/favicon.ico", 200, "what browsers ask for without being told"},
		{"GET", "/schema.graphql", 404, "it is shown only if the server is told so"},
		{"GET", "/home.go", 404, "sources are not served"},
		{"GET", "/icon.svg", 200, "what both pages need"},
		{"GET", "/playground", 200, "the explorer, as people type it"},
		{"GET", "/playground/", 200, "the explorer, as its assets' folder suggests"},
		{"HEAD", "/playground", 200, "a link checker"},
		{"GET", "/playground/licences.txt", 200, "what the licences of the bundle ask for"},
		{"POST", "/", 405, "pages are only read"},
		{"POST", "/playground", 405, "the API is elsewhere"},
		{"OPTIONS", "/playground", 405, "no other host may ask, so there is nothing to negotiate"},
		{"GET", "/nothing", 404, "nobody's path"},
		{"POST", "/nothing", 404, "nobody's path has no methods either"},
		{"GET", "/index.html", 404, "one address for each page"},
		{"GET", "/home", 404, "folders are not listed"},
		{"GET", "/playground/index.html", 404, "one address for each page"},
		{"GET", "/playground/app.js", 404, "assets have a hash in their name"},
		{"GET", "/playground/../web.go", 404, "no way out of the folder"},
	} {
		answer := ask(test.method, test.path)
		if answer.StatusCode != test.want {
			t.Errorf("%s %s: %d, want %d: %s", test.method, test.path, answer.StatusCode, test.want, test.reason)
		}
		if allow := answer.Header.Get("Allow"); test.want == 405 && allow != "GET, HEAD" {
			t.Errorf("%s %s: Allow %q, want the methods there are", test.method, test.path, allow)
		}
	}
}

// Each answer carries the headers that restrict a page, errors included.
func TestPolicies(t *testing.T) {
	for _, request := range []string{"GET /", "GET /home.css", "GET /playground", "POST /playground", "GET /moderation", "GET /nothing"} {
		method, path, _ := strings.Cut(request, " ")
		header := ask(method, path).Header
		policy := header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: Content-Security-Policy %q, want one that begins with nothing allowed", request, policy)
		}
		// Scripts are the point of the policy: neither page has any inline.
		if regexp.MustCompile(`script-src[^;]*unsafe`).MatchString(policy) {
			t.Errorf("%s: Content-Security-Policy %q allows inline scripts or eval", request, policy)
		}
		if got := header.Get("X-Content-Type-Options"); got != "nosniff" {
			t.Errorf("%s: X-Content-Type-Options %q", request, got)
		}
		if got := header.Get("Referrer-Policy"); got != "no-referrer" {
			t.Errorf("%s: Referrer-Policy %q", request, got)
		}
	}
}

func TestPagesHaveNoInlineScriptAndNoForeignAddress(t *testing.T) {
	inline := regexp.MustCompile(`<script(?:\s[^>]*)?>[^<]|\son\w+\s*=|javascript:`)
	foreign := regexp.MustCompile(`(?:src|href)="(?:https?:)?//`)
	for _, path := range []string{"/", "/playground", "/moderation"} {
		page := body(t, path)
		if found := inline.FindString(page); found != "" {
			t.Errorf("%s: inline script %q, which the policy would block", path, found)
		}
		if found := foreign.FindString(page); found != "" {
			t.Errorf("%s: %q leads to another host", path, found)
		}
	}
}

// Each address that a page names must be one that is served.
func TestPagesNameWhatIsServed(t *testing.T) {
	elsewhere := []string{"/healthz", "/readyz"} // by the server
	for _, path := range []string{"/", "/playground", "/moderation"} {
		for _, found := range regexp.MustCompile(`="(/[^"]*)"`).FindAllStringSubmatch(body(t, path), -1) {
			if address := found[1]; !slices.Contains(elsewhere, address) && ask("GET", address).StatusCode != 200 {
				t.Errorf("%s names %s, which nobody serves", path, address)
			}
		}
	}
}

func TestCaching(t *testing.T) {
	hashed := regexp.MustCompile(`^/playground/[a-z-]+-[A-Z0-9]{8}\.(js|css|ttf)$`)
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		want := "no-cache"
		if hashed.MatchString(path) {
			want = "public, max-age=31536000, immutable"
		}
		if got := ask("GET", path).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, got, want)
		}
	}
}

func TestNotModified(t *testing.T) {
	etag := ask("GET", "/playground").Header.Get("ETag")
	for _, test := range []struct {
		ifNoneMatch string
		want        int
		reason      string
	}{
		{etag, 304, "the browser has it"},
		{strings.TrimPrefix(etag, "W/"), 304, "weak comparison"},
		{`"other", ` + etag, 304, "one of several"},
		{"*", 304, "anything will do"},
		{`"other"`, 200, "the browser has another one"},
		{strings.Trim(etag, `W/"`), 200, "a tag has quotes"},
	} {
		answer := ask("GET", "/playground", "If-None-Match: "+test.ifNoneMatch)
		if answer.StatusCode != test.want {
			t.Errorf("If-None-Match %s: %d, want %d: %s", test.ifNoneMatch, answer.StatusCode, test.want, test.reason)
		}
		body, _ := io.ReadAll(answer.Body)
		if test.want == 304 && (len(body) > 0 || answer.Header.Get("ETag") != etag) {
			t.Errorf("If-None-Match %s: 304 with %d bytes and ETag %q", test.ifNoneMatch, len(body), answer.Header.Get("ETag"))
		}
	}
}

func TestEncoding(t *testing.T) {
	for _, test := range []struct {
		accept string
		want   string
		reason string
	}{
		{"gzip, deflate, br", "gzip", "a browser"},
		{"GZIP", "gzip", "names have no case"},
		{"x-gzip", "gzip", "the old name"},
		{"*", "gzip", "anything will do"},
		{"gzip;q=0.5", "gzip", "rather not, but it can"},
		{"", "", "curl"},
		{"br", "", "only what there is not"},
		{"gzip;q=0", "", "refused by name"},
		{"*;q=0", "", "refused with all others"},
		{"*, gzip; q=0.0", "", "its own name counts more than the star"},
	} {
		answer := ask("GET", "/playground", "Accept-Encoding: "+test.accept)
		if got := answer.Header.Get("Content-Encoding"); got != test.want {
			t.Errorf("Accept-Encoding %q: Content-Encoding %q, want %q: %s", test.accept, got, test.want, test.reason)
		}
		if got := answer.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: Vary %q, which would confuse a cache", test.accept, got)
		}
	}
}

// Whichever way a file is sent, it is the same file, of the length that was announced.
func TestBothEncodingsAreTheSameFile(t *testing.T) {
	for _, path := range slices.Sorted(maps.Keys(pages)) {
		plain, packed := ask("GET", path), ask("GET", path, "Accept-Encoding: gzip")
		plainBody, _ := io.ReadAll(plain.Body)
		packedBody, _ := io.ReadAll(packed.Body)
		if unpacked(t, packedBody) != string(plainBody) || len(plainBody) == 0 {
			t.Errorf("%s: the two encodings differ", path)
		}
		if plain.ContentLength != int64(len(plainBody)) || packed.ContentLength != int64(len(packedBody)) {
			t.Errorf("%s: Content-Length %d and %d, want %d and %d",
				path, plain.ContentLength, packed.ContentLength, len(plainBody), len(packedBody))
		}
		head := ask("HEAD", path)
		if body, _ := io.ReadAll(head.Body); len(body) > 0 || head.ContentLength != plain.ContentLength {
			t.Errorf("%s: HEAD has %d bytes and says %d, want none and %d", path, len(body), head.ContentLength, plain.ContentLength)
		}
	}
}

// A page of another origin may load the element's script and texts in each way that browsers have,
// also as a module, with a hash of its content, or where all that is loaded has to allow it. It may
// show pictures.
func TestElementIsForEveryOrigin(t *testing.T) {
	pages := Options{Pictures: fstest.MapFS{"mug.webp": {Data: []byte("RIFF")}}}
	parts, err := fs.Glob(files, "component/dist/*-*.js.gz")
	if err != nil || len(parts) != 2 {
		t.Fatalf("scripts of the drawer's inside and of new comments: %q, %v", parts, err)
	}
	part := func(i int) string { return "/talkback/" + strings.TrimSuffix(path.Base(parts[i]), ".gz") }
	for path, anywhere := range map[string]bool{part(0): true, part(1): true, "/talkback.js": true, "/talkback/de.json": true, "/pictures/mug.webp": true, "/home.js": false, "/playground": false, "/": false} {
		w := httptest.NewRecorder()
		pages.Handler(noAPI).ServeHTTP(w, httptest.NewRequest("GET", path, nil))
		header := w.Result().Header
		if allowed := header.Get("Access-Control-Allow-Origin") == "*"; allowed != anywhere {
			t.Errorf("%s: Access-Control-Allow-Origin %q", path, header.Get("Access-Control-Allow-Origin"))
		}
		if allowed := header.Get("Cross-Origin-Resource-Policy") == "cross-origin"; allowed != anywhere {
			t.Errorf("%s: Cross-Origin-Resource-Policy %q", path, header.Get("Cross-Origin-Resource-Policy"))
		}
	}
}
