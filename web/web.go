// Package web serves the pages that people see: the home page at "/", which leads on to everything
// else, the product pages below "/products/", and the explorer at "/playground", which is GraphiQL
// with example queries. At "/talkback.js" it serves the element that shows comments on any page.
//
// Everything is in the binary: no page loads anything from another host, and a
// Content-Security-Policy sees to that. The explorer and the element are built beforehand, from the
// folders of these names, and committed as gzipped files, so a build of the server needs neither
// Node nor a network. The pages speak to the API over HTTP only, at "/graphql" of the host they came
// from.
package web

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/talkback/talkback/web/product"
)

//go:embed home look explorer/dist component/dist
var files embed.FS

// Handler returns the handler of all pages, to be mounted at "/" beside the API that answers for the
// product pages. It answers unknown paths with 404. All callers share what does not depend on the
// API, a copy of every file.
func Handler(api http.Handler) http.Handler {
	static := shared()
	style, err := files.ReadFile("component/dist/component.css")
	if err != nil {
		panic(fmt.Sprintf("web: embedded style of the element: %v", err))
	}
	return site{static, newProducts(product.New(api, style))}
}

// site is all that is served.
type site struct {
	static   static
	products *products
}

// ServeHTTP implements [http.Handler].
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, isStatic := s.static[r.URL.Path]
	switch {
	case !isStatic && !isProduct(r):
		s.products.serve(w, r, s.products.NotFound(r))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		writePolicies(w.Header(), cmp.Or(found.policyOf(), s.products.policy))
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
	case !isStatic:
		s.products.serve(w, r, s.products.Product(r, addressOf(r)))
	case found.home != nil:
		w.Header().Add("Vary", forwardedProto)
		found.home.at(r).ServeHTTP(w, r)
	default:
		found.ServeHTTP(w, r)
	}
}

// shared makes what is static when it is first asked for.
var shared = sync.OnceValue(func() static {
	all := static{}
	if err := all.addHome(files, "home"); err != nil {
		panic(fmt.Sprintf("web: embedded home page: %v", err))
	}
	sheets, err := styleSheets(files)
	if err != nil {
		panic(fmt.Sprintf("web: embedded style sheets: %v", err))
	}
	for path, sheet := range sheets {
		all[path] = page{asset: sheet}
	}
	if err := all.addExplorer(files, "explorer/dist"); err != nil {
		panic(fmt.Sprintf("web: embedded explorer: %v", err))
	}
	if err := all.addElement(files); err != nil {
		panic(fmt.Sprintf("web: embedded element: %v", err))
	}
	return all
})

// page is what is served at a path.
type page struct {
	*asset
	home *home // for the home page alone, which is another for each address
}

// policyOf returns the policy of the page, empty if it is none.
func (p page) policyOf() string {
	if p.asset == nil {
		return ""
	}
	return p.policy
}

// static is what is served as it is, by its path.
type static map[string]page

// addHome adds the files of a folder as they are, but for index.html, which is "/" and names the
// server as each request does.
func (s static) addHome(files fs.FS, folder string) error {
	return eachFile(files, folder, func(name string, content []byte) error {
		packed, err := pack(content)
		if err != nil {
			return err
		}
		file, err := newAsset(name, packed)
		if err != nil {
			return err
		}
		file.policy, file.cache = homePolicy, mustAsk
		added := page{asset: file}
		if name == "index.html" {
			added.home = &home{content: content}
		}
		s["/"+strings.TrimSuffix(name, "index.html")] = added
		return nil
	})
}

// addExplorer adds the files of a folder, which are gzipped, below "/playground", index.html as
// "/playground" itself, with and without a slash at the end.
func (s static) addExplorer(files fs.FS, folder string) error {
	return eachFile(files, folder, func(name string, packed []byte) error {
		name = strings.TrimSuffix(name, ".gz")
		file, err := newAsset(name, packed)
		if err != nil {
			return err
		}
		file.policy, file.cache = explorerPolicy, forGood
		switch name {
		case "index.html":
			file.cache = mustAsk
			s["/playground"], s["/playground/"] = page{asset: file}, page{asset: file}
		case "licences.txt":
			file.cache = mustAsk // the one other name without a hash
			s["/playground/licences.txt"] = page{asset: file}
		default:
			s["/playground/"+name] = page{asset: file}
		}
		return nil
	})
}

// addElement adds the script of the element, which is gzipped. Its style stands in its pages.
func (s static) addElement(files fs.FS) error {
	packed, err := fs.ReadFile(files, "component/dist/talkback.js.gz")
	if err != nil {
		return err
	}
	script, err := newAsset("talkback.js", packed)
	if err != nil {
		return err
	}
	script.policy, script.cache = homePolicy, mustAsk
	s["/talkback.js"] = page{asset: script}
	return nil
}

// eachFile calls visit with every file of a folder: its name in the folder and its content.
func eachFile(files fs.FS, folder string, visit func(name string, content []byte) error) error {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := fs.ReadFile(files, path.Join(folder, entry.Name()))
		if err != nil {
			return err
		}
		if err := visit(entry.Name(), content); err != nil {
			return fmt.Errorf("%s/%s: %w", folder, entry.Name(), err)
		}
	}
	return nil
}
