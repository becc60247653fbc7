// Package web serves the pages that people see: the home page at "/", which leads on to everything
// else, the product pages below "/products/", the page for moderators at "/moderation", and the
// explorer at "/playground", which is GraphiQL with example queries. At "/talkback.js" it serves the
// element that shows comments on any page, and below "/talkback/" its texts in other languages.
//
// Everything is in the binary: no page loads anything from another host, and a Content-Security-Policy enforces that.
// The explorer and the element are built beforehand, from the folders of these names, and committed as gzipped files,
// so a build of the server needs neither Node nor a network. The pages speak to the API over HTTP only, at "/graphql"
// of the host they came from.
package web

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/web/product"
)

//go:embed desk/desk.css desk/*.js home/home.css home/home.js home/icon.svg home/favicon.ico look explorer/dist component/dist
var files embed.FS

// Operations returns the manifest of the operations that browsers send for pages of this server: those
// of the element, and of the page for moderators.
func Operations() []byte {
	manifest, err := files.ReadFile("component/dist/operations.json")
	if err != nil {
		panic(err) // it is embedded
	}
	return manifest
}

// Options tell the pages about their server.
type Options struct {
	// Schema is what "/schema.graphql" serves, in the schema definition language. Without it there
	// is no such page.
	Schema string
	// MediaOrigin is the origin of pictures and videos of comments, such as "https://media.example"; empty if there are
	// none.
	MediaOrigin string
	// Pictures is served below PicturesPath; nil for nothing.
	Pictures fs.FS
	// Catalog has the names of products; nil without names.
	Catalog *product.Catalog
	// Plans, Live and Layout are those of [product.Pages].
	Plans, Live bool
	Layout      *product.Layout
	// SharedFor is how long shared caches may keep product pages. 0 lets them keep none.
	SharedFor time.Duration
}

// PicturesPath is where Options.Pictures are.
const PicturesPath = "/pictures/"

// Handler returns the handler of all pages, to be mounted at "/" beside the API that answers for them. It answers
// unknown paths with 404. All handlers share one copy of every embedded file.
func (o Options) Handler(api http.Handler) http.Handler {
	static := shared()
	if o.Schema != "" {
		static = maps.Clone(static)
		if err := static.addContent("/schema.graphql", []byte(o.Schema)); err != nil {
			panic(err) // of an unknown content type
		}
	}
	if o.Pictures != nil {
		static = maps.Clone(static)
		if err := static.addPictures(o.Pictures); err != nil {
			panic(err) // they are embedded too
		}
	}
	style, err := files.ReadFile("component/dist/component.css")
	if err != nil {
		panic(fmt.Sprintf("web: embedded style of the element: %v", err))
	}
	pages := product.New(api, style)
	pages.Catalog, pages.Plans, pages.Live, pages.Layout = o.Catalog, o.Plans, o.Live, o.Layout
	media := ""
	if o.MediaOrigin != "" {
		media = fmt.Sprintf(" %[1]s; media-src %[1]s", o.MediaOrigin)
	}
	policy := fmt.Sprintf(productPolicy, pages.StyleHash(), media)
	front := &homePage{api: api, pages: pages, policy: policy, schema: o.Schema != "", catalog: o.Catalog}
	return site{static, front, &products{pages, policy, edge.Sharing(o.SharedFor)}, o.MediaOrigin}
}

// site serves all pages.
type site struct {
	static   static
	home     *homePage
	products *products
	media    string // the origin of pictures
}

// ServeHTTP implements [http.Handler].
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, isHome := s.static[r.URL.Path], r.URL.Path == "/"
	below, isProduct := strings.CutPrefix(r.URL.EscapedPath(), "/products/")
	if r.URL.Path == deskPath {
		w.Header().Add("Vary", "Accept-Language")
		found = deskFor(r, s.media)
	}
	switch {
	case found == nil && !isHome && !isProduct:
		s.products.serve(w, r, s.products.NotFound(r))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		writePolicies(w.Header(), s.products.policy)
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
	case isHome:
		w.Header().Add("Vary", forwardedProto)
		s.home.at(r).ServeHTTP(w, r)
	case found == nil && strings.HasSuffix(below, product.InsideSuffix): // and not the page of a product "element"
		s.products.serve(w, r, s.products.Inside(r))
	case found == nil:
		s.products.serve(w, r, s.products.Product(r, addressOf(r)))
	default:
		found.ServeHTTP(w, r)
	}
}

// shared makes the static files at its first call.
var shared = sync.OnceValue(func() static {
	all := static(guidePages())
	err := errors.Join(
		all.addJoined(files),
		all.addExplorer(files, "explorer/dist"),
		all.addElement(files),
	)
	if err != nil {
		panic(fmt.Sprintf("web: embedded files: %v", err))
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

// addJoined adds the sources, each joined to one.
func (s static) addJoined(files fs.FS) error {
	for path, names := range sources {
		var all []byte
		for _, name := range names {
			content, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			all = append(all, content...)
		}
		if err := s.addContent(path, all); err != nil {
			return err
		}
	}
	return nil
}

func (s static) addContent(path string, content []byte) error {
	file, err := newAsset(path, content)
	if err != nil {
		return err
	}
	file.policy, file.cache = homePolicy, mustAsk
	s[path] = file
	return nil
}

// addPictures adds pictures of comments, which pages of any origin may show.
func (s static) addPictures(files fs.FS) error {
	return eachFile(files, ".", func(name string, content []byte) error {
		file, err := newAsset(name, content)
		if err == nil {
			file.policy, file.cache, file.anywhere = homePolicy, mustAsk, true
			s[PicturesPath+name] = file
		}
		return err
	})
}

// addExplorer adds the files of a folder, which are gzipped, below "/playground", index.html as
// "/playground" itself, with and without a slash at the end.
func (s static) addExplorer(files fs.FS, folder string) error {
	return eachFile(files, folder, func(name string, packed []byte) error {
		name = strings.TrimSuffix(name, ".gz")
		file, err := packedAsset(name, packed)
		if err != nil {
			return err
		}
		file.policy, file.cache = explorerPolicy, forGood
		switch name {
		case "index.html":
			file.cache = mustAsk
			s["/playground"], s["/playground/"] = file, file
		case "licences.txt":
			file.cache = mustAsk // the one other name without a hash
			s["/playground/licences.txt"] = file
		default:
			s["/playground/"+name] = file
		}
		return nil
	})
}

// addElement adds the scripts of the element, which are gzipped, and its texts. Its style is inline in its pages. Pages
// of any origin may load them, and the script also as a module or with an integrity hash.
func (s static) addElement(files fs.FS) error {
	err := eachFile(files, "component/dist", func(name string, packed []byte) error {
		name, isScript := strings.CutSuffix(name, ".gz")
		if !isScript {
			return nil
		}
		script, err := packedAsset(name, packed)
		if err != nil {
			return err
		}
		address := "/talkback/" + name // the element loads these when it needs them
		if name == "talkback.js" {
			address = "/" + name
		}
		script.policy, script.cache, script.anywhere = homePolicy, mustAsk, true
		s[address] = script
		return nil
	})
	if err != nil {
		return err
	}
	for _, lang := range product.Languages() {
		if err := s.addContent(product.TextsPath(lang), product.ElementTexts(lang)); err != nil {
			return err
		}
		s[product.TextsPath(lang)].anywhere = true
	}
	return nil
}

// eachFile calls use with every file of a folder: its name in the folder and its content.
func eachFile(files fs.FS, folder string, use func(name string, content []byte) error) error {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			continue
		}
		content, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		if err := use(entry.Name(), content); err != nil {
			return fmt.Errorf("%s/%s: %w", folder, entry.Name(), err)
		}
	}
	return nil
}
