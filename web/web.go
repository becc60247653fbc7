// Package web serves the pages that people see: the home page at "/", which leads on to everything
// else, the product pages below "/products/", the page for moderators at "/moderation", and the
// explorer at "/playground", which is GraphiQL with example queries. At "/talkback.js" it serves
// the element that shows comments on any page, and below "/talkback/" its texts in other languages.
//
// Everything is in the binary: no page loads anything from another host, and a
// Content-Security-Policy enforces that. The explorer and the element are built beforehand, from
// the folders of these names, and committed as gzipped files, so a build of the server needs
// neither Node nor a network. The pages speak to the API over HTTP only, at "/graphql" of the host
// they came from.
package web

import (
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/edge"
)

//go:embed desk/desk.css desk/*.js home/home.css home/home.js home/icon.svg home/favicon.ico look explorer/dist component/dist
var files embed.FS

// Operations returns the manifest of the operations that browsers send for pages of this server:
// those of the element, and of the page for moderators.
func Operations() []byte { return mustHave(files.ReadFile("component/dist/operations.json")) }

// Options tell the pages about their server.
type Options struct {
	// Schema is what "/schema.graphql" serves, in the schema definition language. Without it there
	// is no such page.
	Schema string
	// MediaOrigin is the origin of pictures and videos of comments, such as "https://media.example";
	// empty if there are none.
	MediaOrigin string
	// Pictures is served below PicturesPath; nil for nothing.
	Pictures fs.FS
	// Catalog has the names of products; nil without names.
	Catalog *Catalog
	// Plans makes product pages show how they were read, under a header of Talkback, for people who
	// try it.
	Plans bool
	// Live makes product pages show, by a subscription, how many comments came while they are open.
	Live bool
	// Layout surrounds the content of product pages; nil for none.
	Layout *Layout
	// SharedFor is how long shared caches may keep product pages. 0 lets them keep none.
	SharedFor time.Duration
}

// PicturesPath is where Options.Pictures are.
const PicturesPath = "/pictures/"

// Handler returns the handler of all pages, to be mounted at "/" beside the API that answers for
// them. It answers unknown paths with 404. All handlers share one copy of every embedded file.
func (o Options) Handler(api http.Handler) http.Handler {
	static := maps.Clone(shared())
	if o.Schema != "" {
		static["/schema.graphql"] = newAsset("schema.graphql", []byte(o.Schema), homePolicy, mustAsk)
	}
	if o.Pictures != nil {
		for name, content := range filesIn(o.Pictures, ".") {
			static[PicturesPath+name] = newAsset(name, content, homePolicy, mustAsk)
			static[PicturesPath+name].anywhere = true // pages of any origin may show them
		}
	}
	pages := newProductPages(api, mustHave(files.ReadFile("component/dist/component.css")))
	pages.Catalog, pages.Plans, pages.Live, pages.Layout = o.Catalog, o.Plans, o.Live, o.Layout
	media := ""
	if o.MediaOrigin != "" {
		media = fmt.Sprintf(" %[1]s; media-src %[1]s", o.MediaOrigin)
	}
	policy := fmt.Sprintf(productPolicy, pages.styleHash, media)
	front := &homePage{api: api, pages: pages, policy: policy, schema: o.Schema != ""}
	return site{static, front, pages, policy, edge.Sharing(o.SharedFor), o.MediaOrigin}
}

// site serves all pages.
type site struct {
	static  static
	home    *homePage
	pages   *productPages
	policy  string       // of product pages
	sharing edge.Sharing // of product pages
	media   string       // the origin of pictures
}

// ServeHTTP implements [http.Handler].
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, isHome := s.static[r.URL.Path], r.URL.Path == "/"
	below, isProduct := strings.CutPrefix(r.URL.EscapedPath(), "/products/")
	if r.URL.Path == deskPath {
		w.Header().Add("Vary", "Accept-Language")
		desk, pictures := *desks()[chooseDesk(r.Header.Get("Accept-Language"))], ""
		if s.media != "" {
			pictures = " " + s.media
		}
		desk.policy = fmt.Sprintf(desk.policy, pictures)
		found = &desk
	}
	switch {
	case found == nil && !isHome && !isProduct:
		s.serve(w, r, s.pages.NotFound(r))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		writePolicies(w.Header(), s.policy)
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
	case isHome:
		w.Header().Add("Vary", forwardedProto)
		s.home.at(r).ServeHTTP(w, r)
	case found == nil && strings.HasSuffix(below, insideSuffix): // and not the page of a product "element"
		s.serve(w, r, s.pages.Inside(r))
	case found == nil:
		s.serve(w, r, s.pages.Product(r, addressOf(r)))
	default:
		found.ServeHTTP(w, r)
	}
}

// serve sends a page that was made for the request: that of a product, or for an unknown address.
func (s site) serve(w http.ResponseWriter, r *http.Request, page productPage) {
	header := w.Header()
	writePolicies(header, s.policy)
	maps.Copy(header, page.Header)
	header.Add("Vary", "Accept-Encoding")
	header.Add("Vary", forwardedProto)
	edge.OneVary(header)
	header.Set("Cache-Control", "no-store")
	if page.Version != "" {
		if page.About == "" || !s.sharing.Allow(header, []string{page.About}) {
			header.Set("Cache-Control", mustAsk)
		}
		header.Set("ETag", `W/"`+page.Version+`"`)
		if edge.Matches(r.Header.Values("If-None-Match"), header.Get("ETag")) {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	body := page.Body
	if len(body) > 0 && acceptsGzip(r.Header.Values("Accept-Encoding")) {
		header.Set("Content-Encoding", "gzip")
		fast := writers.Get().(*gzip.Writer)
		body = packBy(fast, body)
		writers.Put(fast)
	}
	if server, counts := w.(holder); counts {
		server.Hold(len(body))
	}
	header.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(page.Status)
	if r.Method != http.MethodHead {
		// A failure here is a client that went away. The headers are sent, so it cannot be reported.
		_, _ = w.Write(body)
	}
}

// holder is the answer of a server that counts the bytes it holds for slow clients. All clients
// share the bytes of a file, but a page made for a request counts for its client.
type holder interface{ Hold(bytes int) }

// writers pools gzip writers, which take some hundred kilobytes each.
var writers = sync.Pool{New: func() any { return mustHave(gzip.NewWriterLevel(nil, gzip.BestSpeed)) }}

// shared makes the static files at its first call.
var shared = sync.OnceValue(func() static {
	all := static(guidePages())
	for path, names := range sources {
		var joined []byte
		for _, name := range names {
			joined = append(joined, mustHave(files.ReadFile(name))...)
		}
		all[path] = newAsset(path, joined, homePolicy, mustAsk)
	}
	for name, packed := range filesIn(files, "explorer/dist") { // they are gzipped
		name = strings.TrimSuffix(name, ".gz")
		file := packedAsset(name, packed, explorerPolicy, forGood)
		switch name {
		case "index.html":
			file.cache = mustAsk
			all["/playground"], all["/playground/"] = file, file
			continue
		case "licences.txt":
			file.cache = mustAsk // the one other name without a hash
		}
		all["/playground/"+name] = file
	}
	// Pages of any origin may load the scripts of the element, which are gzipped, and its texts; the
	// main script also as a module or with an integrity hash. The style of the element is inline in
	// its pages.
	for name, packed := range filesIn(files, "component/dist") {
		name, isScript := strings.CutSuffix(name, ".gz")
		if !isScript {
			continue
		}
		address := "/talkback/" + name // the element loads these when it needs them
		if name == "talkback.js" {
			address = "/" + name
		}
		all[address] = packedAsset(name, packed, homePolicy, mustAsk)
		all[address].anywhere = true
	}
	for _, lang := range textLanguages() {
		words := readTexts(lang)
		maps.DeleteFunc(words, func(key, _ string) bool { // those of the page around the element
			subject, _, _ := strings.Cut(key, ".")
			return subject == "site" || subject == "page" || subject == "missing"
		})
		address := textsPath(lang)
		all[address] = newAsset(address, mustHave(json.Marshal(words)), homePolicy, mustAsk)
		all[address].anywhere = true
	}
	return all
})

// static holds the files that are served as they are, by their paths.
type static map[string]*asset

// sources are the files of the home page and the style sheets, by their paths. A style sheet is
// several files, one after the other, so that a page asks once for all of them.
var sources = map[string][]string{
	"/home.js":     {"home/home.js"},
	"/icon.svg":    {"home/icon.svg"},
	"/favicon.ico": {"home/favicon.ico"},
	"/home.css":    {"look/tokens.css", "look/shell.css", "home/home.css"},
	"/product.css": {"look/tokens.css", "look/shell.css"},

	"/moderation.css": {"look/tokens.css", "look/shell.css", "desk/desk.css"},
	"/moderation.js":  {"desk/api.js", "desk/differences.js", "desk/draw.js", "desk/desk.js"},
}

// filesIn yields the name and the content of each file of a folder.
func filesIn(files fs.FS, folder string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for _, entry := range mustHave(fs.ReadDir(files, folder)) {
			if !entry.IsDir() && !yield(entry.Name(), mustHave(fs.ReadFile(files, path.Join(folder, entry.Name())))) {
				return
			}
		}
	}
}
