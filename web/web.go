// Package web serves the pages that people see: the home page at "/", which leads on to everything
// else, and the explorer at "/playground", which is GraphiQL with example queries.
//
// Everything is in the binary: no page loads anything from another host, and a
// Content-Security-Policy sees to that. The explorer is built beforehand, from the folder explorer,
// and committed as gzipped files, so a build of the server needs neither Node nor a network. The
// pages speak to the API over HTTP only, at "/graphql" of the host they came from.
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

//go:embed home look explorer/dist
var files embed.FS

// Handler returns the handler of all pages, to be mounted at "/" beside the API. It answers unknown
// paths with 404. All callers share one handler, which holds a copy of every page.
func Handler() http.Handler { return shared() }

// shared makes the handler when it is first asked for.
var shared = sync.OnceValue(func() site {
	all := site{}
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
	return all
})

// page is what is served at a path.
type page struct {
	*asset
	home *home // for the home page alone, which is another for each address
}

// site is all that is served, by the path it is served at.
type site map[string]page

// ServeHTTP implements [http.Handler].
func (s site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := s[r.URL.Path]
	switch {
	case !ok:
		notFound.writePolicies(w.Header())
		http.NotFound(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		found.writePolicies(w.Header())
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "405 method not allowed", http.StatusMethodNotAllowed)
	case found.home != nil:
		w.Header().Add("Vary", forwardedProto)
		found.home.at(r).ServeHTTP(w, r)
	default:
		found.ServeHTTP(w, r)
	}
}

// notFound holds the policies of answers for unknown paths.
var notFound = &asset{policy: homePolicy}

// addHome adds the files of a folder as they are, but for index.html, which is "/" and names the
// server as each request does.
func (s site) addHome(files fs.FS, folder string) error {
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
func (s site) addExplorer(files fs.FS, folder string) error {
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
