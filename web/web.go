// Package web serves the pages that people see: the home page at "/", which leads on to everything else, and the
// explorer at "/playground", which is GraphiQL with example queries.
//
// Everything is in the binary: no page loads anything from another host, and a Content-Security-Policy sees to that.
// The explorer is built beforehand, from the folder explorer, and committed as gzipped files, so a build of the server
// needs neither Node nor a network. The pages speak to the API over HTTP only, at "/graphql" of the host they came from.
package web

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

//go:embed home explorer/dist
var files embed.FS

const (
	// homePolicy lets the home page have its style sheet and its picture, and nothing else.
	homePolicy = "default-src 'none'; style-src 'self'; img-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// explorerPolicy is as narrow as the editor allows: it sets styles of elements as it goes, shows icons of a font
	// and of data: addresses, and runs workers. No script but those of this host, and none inline.
	explorerPolicy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; " +
		"font-src 'self' data:; img-src 'self' data:; connect-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

	// mustAsk makes a browser ask each time whether what it has is still current; the ETag makes that cheap.
	mustAsk = "no-cache"

	// forGood is for files whose names change with their content.
	forGood = "public, max-age=31536000, immutable"
)

// Handler returns the handler of all pages, to be mounted at "/" beside the API. What it does not know is 404. All
// callers share one: it keeps a copy of every page.
func Handler() http.Handler { return shared() }

// shared makes the handler when it is first asked for.
var shared = sync.OnceValue(func() site {
	all := site{}
	if err := all.addHome(files, "home"); err != nil {
		panic(fmt.Sprintf("web: embedded home page: %v", err))
	}
	if err := all.addExplorer(files, "explorer/dist"); err != nil {
		panic(fmt.Sprintf("web: embedded explorer: %v", err))
	}
	return all
})

// site is all that is served, by the path it is served at.
type site map[string]*asset

// ServeHTTP implements [http.Handler].
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page, ok := s[r.URL.Path]
	switch {
	case !ok:
		notFound.writePolicies(w.Header())
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		page.writePolicies(w.Header())
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
	case page.home != nil:
		w.Header().Add("Vary", forwardedProto)
		page.home.at(r).ServeHTTP(w, r)
	default:
		page.ServeHTTP(w, r)
	}
}

// notFound lends its policies to answers about paths that are nobody's.
var notFound = &asset{policy: homePolicy}

// addHome adds the files of a folder as they are, but for index.html, which is "/" and names the server as each request
// does.
func (s site) addHome(files fs.FS, folder string) error {
	return eachFile(files, folder, func(name string, content []byte) error {
		packed, err := pack(content)
		if err != nil {
			return err
		}
		page, err := newAsset(name, packed)
		if err != nil {
			return err
		}
		page.policy, page.cache = homePolicy, mustAsk
		if name == "index.html" {
			page.home = &home{content: content}
		}
		s["/"+strings.TrimSuffix(name, "index.html")] = page
		return nil
	})
}

// addExplorer adds the files of a folder, which are gzipped, below "/playground", index.html as "/playground" itself,
// with and without a slash at the end.
func (s site) addExplorer(files fs.FS, folder string) error {
	return eachFile(files, folder, func(name string, packed []byte) error {
		name = strings.TrimSuffix(name, ".gz")
		page, err := newAsset(name, packed)
		if err != nil {
			return err
		}
		page.policy, page.cache = explorerPolicy, forGood
		switch name {
		case "index.html":
			page.cache = mustAsk
			s["/playground"], s["/playground/"] = page, page
		case "licences.txt":
			page.cache = mustAsk // the one other name without a hash
			s["/playground/licences.txt"] = page
		default:
			s["/playground/"+name] = page
		}
		return nil
	})
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
