// Package docsite builds README.md and docs/ into a static site, by VitePress, and visits it.
// build.mjs beside its tests builds.
package docsite

import (
	"context"
	"errors"
	"flag"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"golang.org/x/net/html"
	"golang.org/x/sync/errgroup"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/check"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/doctest"
	"github.com/talkback/talkback/internal/provisiontest"
)

var built = flag.String("site", "", "test the site in this folder in place of a new one")

// The site is built once for all tests.
func TestSite(t *testing.T) {
	site := os.DirFS(build(t))
	t.Run("links", func(t *testing.T) { checkLinks(t, site) })
	t.Run("navigation", func(t *testing.T) { checkNavigation(t, site) })
	t.Run("licences", func(t *testing.T) {
		texts := string(must.Get(fs.ReadFile(site, "licences.txt"))(t))
		for _, name := range []string{"vue", "vitepress", "@mermaid-js/tiny", "minisearch", "@docsearch/css"} {
			if !strings.Contains("\n"+texts, "\n"+name+" ") {
				t.Errorf("there is no licence of %s", name)
			}
		}
		for section := range strings.SplitSeq(texts, "\n"+strings.Repeat("-", 80)+"\n\n") {
			if len(section) < 500 {
				t.Errorf("there is no text of the licence of %s", section)
			}
		}
	})
	server := httptest.NewServer(http.FileServerFS(site))
	t.Cleanup(server.Close)
	browser := browsertest.Open(t)
	t.Run("search", func(t *testing.T) { search(t, browsertest.NewVisitor(t, browser), server.URL) })
	t.Run("pages", func(t *testing.T) { visit(t, browsertest.NewVisitor(t, browser), server.URL) })
	t.Run("diagrams", func(t *testing.T) { drawTwice(t, browsertest.NewVisitor(t, browser), site) })
}

// build returns the folder of the site.
func build(t *testing.T) string {
	t.Helper()
	if *built != "" {
		return filepath.Join(provisiontest.Root(t), *built)
	}
	const suite = "the documents as a site"
	provisiontest.Packages(t, suite, "internal/docsite", ".cache/docs")
	folder := t.TempDir()
	run := exec.Command(provisiontest.Program(t, "node", suite), "build.mjs", folder)
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return folder
}

// page is what links are checked by.
type page struct {
	targets, sidebar []string
	ids              map[string]bool
}

// pagesOf reads each page of the site, by its address.
func pagesOf(t *testing.T, site fs.FS) map[string]page {
	t.Helper()
	all := map[string]page{}
	err := fs.WalkDir(site, ".", func(name string, _ fs.DirEntry, err error) error {
		if path.Ext(name) != ".html" {
			return err
		}
		file, err := site.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }()
		root, err := html.Parse(file)
		if err != nil {
			return err
		}
		all["/"+name] = pageOf(root)
		return nil
	})
	if err != nil || len(all) < 90 {
		t.Fatalf("the site has %d pages: %v", len(all), err)
	}
	return all
}

func pageOf(root *html.Node) page {
	p := page{ids: map[string]bool{}}
	var sidebar *html.Node
	for n := range root.Descendants() {
		for _, attribute := range n.Attr {
			switch {
			case attribute.Key == "id":
				p.ids[attribute.Val] = true
				if attribute.Val == "VPSidebarNav" {
					sidebar = n
				}
			case attribute.Key == "href" || attribute.Key == "src":
				p.targets = append(p.targets, attribute.Val)
			}
		}
	}
	if sidebar != nil {
		for n := range sidebar.Descendants() {
			for _, attribute := range n.Attr {
				if attribute.Key == "href" {
					p.sidebar = append(p.sidebar, attribute.Val)
				}
			}
		}
	}
	return p
}

// checkLinks follows every link within the site: to a file, and to a heading of a page.
func checkLinks(t *testing.T, site fs.FS) {
	pages := pagesOf(t, site)
	for from, p := range pages {
		for _, target := range p.targets {
			address, err := url.Parse(target)
			if err != nil {
				t.Errorf("%s: the link to %q: %v", from, target, err)
				continue
			}
			if address.IsAbs() {
				if address.Scheme != "https" && address.Hostname() != "127.0.0.1" {
					t.Errorf("%s links to %q, which is not HTTPS", from, target)
				}
				continue
			}
			to := from
			if address.Path != "" {
				to = (&url.URL{Path: from}).ResolveReference(address).Path
			}
			if strings.HasSuffix(to, "/") {
				to += "index.html"
			}
			if _, err := fs.Stat(site, to[1:]); err != nil {
				t.Errorf("%s links to %q: %v", from, target, err)
			} else if address.Fragment != "" && !pages[to].ids[address.Fragment] {
				t.Errorf("%s links to %q, and there is no such heading", from, target)
			}
		}
	}
}

// checkNavigation compares the sidebar with docs/README.md, which every document is in.
func checkNavigation(t *testing.T, site fs.FS) {
	var want []string
	for _, target := range doctest.Read(t, "docs/README.md").Links() {
		if path.Ext(target) == ".md" {
			want = append(want, strings.TrimSuffix(path.Join("/docs", target), ".md")+".html")
		}
	}
	pages := pagesOf(t, site)
	check.Equal(t, want, pages["/docs/tutorial.html"].sidebar, "docs/README.md and the navigation differ")
	for name := range pages {
		listed := name == "/index.html" || name == "/404.html" || name == "/docs/README.html" || strings.HasPrefix(name, "/source/")
		if !listed && !slices.Contains(want, name) {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

// search finds a word that is in one section of one document, by keyboard, and opens it.
func search(t *testing.T, ctx context.Context, address string) {
	var at, heading string
	browsertest.Visit(t, ctx, address,
		browsertest.Click(".VPNavBarSearch button"),
		browsertest.Until(`document.activeElement.id === 'localsearch-input'`, nil),
		chromedp.KeyEvent("tombstone"),
		browsertest.Until(`document.querySelector('.VPLocalSearchBox .results .result') !== null`, nil))
	if err := chromedp.Run(ctx, chromedp.KeyEvent(kb.Enter), browsertest.Until(`location.pathname !== '/' && location.pathname`, &at),
		browsertest.Until(`document.querySelector('.vp-doc h1')?.textContent`, &heading)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(at, "/") || heading == "" {
		t.Errorf("the first hit leads to %q, %q", at, heading)
	}
}

// visited are pages of each kind, with what has to be on them.
var visited = map[string]string{
	"/":                             `document.querySelectorAll('.annotated .picture span').length === document.querySelectorAll('.annotated li').length`,
	"/README.html":                  `document.querySelector('h1').textContent.startsWith('Talkback')`,
	"/docs/README.html":             `document.querySelectorAll('main li').length > 20`,
	"/docs/guide/paging.html":       `document.querySelector('.language-graphql span[style*="--code-token-string"]') !== null`,
	"/docs/design/overview.html":    `document.querySelectorAll('.diagram svg').length === 3`,
	"/docs/operate/metrics.html":    `document.querySelector('main table') !== null`,
	"/docs/page-stores.html":        `document.querySelector('main img') !== null`,
	"/source/infra/nginx.conf.html": `document.querySelector('.language-nginx') !== null`,
}

// foreign are parts that VitePress draws: the button for searching has another name than it shows,
// and the head of a group in the sidebar is a button with one inside.
var foreign = []string{".VPNavBarSearch", "#VPSidebarNav .item[role=button]"}

const (
	loaded  = `[...document.images].every((image) => image.complete && image.naturalWidth > 0)`
	shownAs = `document.documentElement.classList.contains('dark') === matchMedia('(prefers-color-scheme: dark)').matches`
)

// inScheme has the browser prefer a scheme of colours.
func inScheme(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// coloured are the visited pages with colours of their own: of a picture, of code, of diagrams.
var coloured = []string{"/", "/docs/guide/paging.html", "/docs/design/overview.html"}

// visit looks at pages on a phone, and at those with colours of their own in the other scheme, too,
// on a wide screen.
func visit(t *testing.T, ctx context.Context, address string) {
	for scheme, width := range map[string]int64{"light": 360, "dark": 1280} {
		for name, has := range visited {
			if scheme == "dark" && !slices.Contains(coloured, name) {
				continue
			}
			t.Run(scheme+name, func(t *testing.T) {
				var wider int
				browsertest.Visit(t, ctx, address+name,
					inScheme(scheme),
					chromedp.EmulateViewport(width, 800),
					browsertest.Until(has, nil), browsertest.Until(loaded, nil), browsertest.Until(shownAs, nil),
					chromedp.Evaluate(`document.documentElement.scrollWidth - innerWidth`, &wider))
				if wider > 0 {
					t.Errorf("a window of %d pixels scrolls sideways by %d", width, wider)
				}
				browsertest.Axe(t, ctx, foreign...)
			})
		}
	}
}

// drawTwice changes the scheme while a page waits for what draws its diagrams, which draws each of
// them twice then, and the same.
func drawTwice(t *testing.T, ctx context.Context, site fs.FS) {
	asked, held := make(chan struct{}), make(chan struct{})
	ask := sync.OnceFunc(func() { close(asked) })
	files := http.FileServerFS(site)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "mermaid") {
			ask()
			<-held
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	must.Do(t, chromedp.Run(ctx, inScheme("light")))
	var group errgroup.Group
	group.Go(func() error { return chromedp.Run(ctx, chromedp.Navigate(server.URL+"/docs/design/overview.html")) })
	<-asked
	err := chromedp.Run(ctx, inScheme("dark"), browsertest.Until(`document.documentElement.classList.contains('dark')`, nil))
	close(held)
	must.Do(t, errors.Join(err, group.Wait()))
	var drawn int
	last := `window.mermaidLoaded.then((library) => library.render('last', 'flowchart TD\na-->b'))` // after all others
	must.Do(t, chromedp.Run(ctx, browsertest.Until(last+`.then(() => new Promise(requestAnimationFrame)).then(() => document.querySelectorAll('.diagram svg').length)`, &drawn)))
	if drawn != 3 {
		t.Errorf("%d of 3 diagrams are drawn", drawn)
	}
}
