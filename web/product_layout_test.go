package web

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

const shopPage = `<!doctype html>
<html lang="{{.Lang}}">
<head>{{.Head}}<link rel="stylesheet" href="/shop.css"></head>
<body><header><a href="/">Shop</a>{{with .Product}}<a href="/p/{{.}}">{{$.Name}}</a>{{end}}</header>
<main>{{.Content}}</main></body>
</html>`

// layoutOf writes a template into a file and reads it.
func layoutOf(t *testing.T, source string) (*Layout, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.html")
	must.Do(t, os.WriteFile(path, []byte(source), 0o600))
	return ReadLayout(path, slog.New(slog.DiscardHandler))
}

// Errors in a template are reported at the start, with the line and the cure.
func TestLayouts(t *testing.T) {
	in := func(text string) string { return strings.Replace(shopPage, "<main>", text+"<main>", 1) }
	for source, says := range map[string]string{
		shopPage:                               "",
		in(`<script src="/shop.js"></script>`): "",
		in(`<script type="application/ld+json">{"name": {{.Name}}}</script>`): "",
		in("{{.Foo}}"):                                 "shop.html:5:2: executing \"shop.html\" at <.Foo>",
		in("{{if}}"):                                   "shop.html:5: missing value for if; a template may use {{.Head}}",
		in("{{end}}"):                                  "shop.html:5: unexpected {{end}}",
		in("<a href=\"{{if .Product}}'\">"):            "shop.html:6: unexpected EOF",
		in(`<style>`):                                  "shop.html:5: browsers will refuse the element <style>",
		in("\n<p\n onclick=\"x()\">"):                  "shop.html:6: browsers will refuse the attribute onclick",
		in(`<p style="color: {{.Lang}}">`):             "shop.html:5: browsers will refuse the attribute style",
		in(`<script>x()</script>`):                     "shop.html:5: browsers will refuse a <script> without src",
		in(`<a href="javascript:x()">`):                "shop.html:5: browsers will refuse an address",
		in(`<img src="data:image/png;base64,AA">`):     "shop.html:5: browsers will refuse an address that begins with data:",
		in(`<iframe src="/menu">`):                     "shop.html:5: browsers will refuse the element <iframe>",
		in(`<script src="https://cdn.example/a.js">`):  "shop.html:5: browsers will refuse a <script> of another host",
		in(`<LINK REL="preload StyleSheet" href=//x>`): "shop.html:5: browsers will refuse a <link> of another host",
		in(`<link rel="canonical" href="https://x">`):  "", // loads nothing
		in(`<a href="https://other.example/">`):        "",
		in(`<img src="https://media.example/a.png">`):  "", // pictures may come from the host of --media-base
		in("{{.Content}}"):                             "shop.html: {{.Content}} appears 2 times",
		in("{{slice .Name 0 2}}"):                      "shop.html:5", // fails for the page of an address where nothing is
		strings.Replace(shopPage, "{{.Head}}", "", 1):  "shop.html: {{.Head}} appears 0 times",
		strings.Replace(shopPage, "<main>{{.Content}}", `<main title="{{.Content}}">`, 1): "shop.html: {{.Content}} appears 0 times",
	} {
		if _, err := layoutOf(t, source); (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s\n%v, want %q", source, err, says)
		}
	}
	if _, err := ReadLayout("nowhere.html", nil); err == nil || !strings.Contains(err.Error(), "nowhere.html") {
		t.Errorf("no file: %v", err)
	}
}

// A shop's page has the shop's layout around the comments, and nothing else of Talkback's.
func TestPagesOfAShop(t *testing.T) {
	layout := must.Get(layoutOf(t, shopPage))(t)
	pages := newProductPages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answerOf(t, "first")) }), nil)
	versions := map[string]bool{}
	for _, row := range []struct {
		layout      *Layout
		plans       bool
		path        string
		has, hasNot []string
	}{
		{nil, false, "/products/42", []string{"/product.css"}, []string{`class="site"`, " explain", `class="plan"`, "/playground"}},
		{nil, true, "/products/42", []string{`class="site"`, " explain", `class="plan"`}, nil},
		{layout, false, "/products/%3Cb%3E", []string{"/shop.css", `<a href="/p/%3cb%3e">&lt;b&gt;</a>`, `rel="canonical"`, "<talkback-comments", "ld+json"}, []string{`class="site"`, "/product.css", "<b>"}},
		{layout, false, "/nothing", []string{"/shop.css", "nothing at this address"}, []string{`href="/p/`, "<talkback-comments"}},
	} {
		pages.Layout, pages.Plans = row.layout, row.plans
		r := httptest.NewRequest(http.MethodGet, row.path, nil)
		made := pages.NotFound(r)
		if strings.HasPrefix(row.path, "/products/") {
			made = pages.Product(r, "https://comments.example")
		}
		if row.layout == nil {
			wellFormed(t, made.Body)
		}
		for _, text := range row.has {
			if !strings.Contains(string(made.Body), text) {
				t.Errorf("%s, layout %t, plans %t: no %q in %s", row.path, row.layout != nil, row.plans, text, made.Body)
			}
		}
		for _, text := range row.hasNot {
			if strings.Contains(string(made.Body), text) {
				t.Errorf("%s, layout %t, plans %t: %q in %s", row.path, row.layout != nil, row.plans, text, made.Body)
			}
		}
		if versions[made.Version] && made.Version != "" {
			t.Errorf("%s has the version of another page", row.path)
		}
		versions[made.Version] = true
	}
}

// A template that fails for one page still leaves that page readable.
func TestFailingLayout(t *testing.T) {
	layout := must.Get(layoutOf(t, strings.Replace(shopPage, "{{$.Name}}", `{{if ne . "42"}}{{index . 99}}{{end}}`, 1)))(t)
	pages := newProductPages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answerOf(t, "first")) }), nil)
	pages.Layout = layout
	made := pages.Product(httptest.NewRequest(http.MethodGet, "/products/7", nil), "")
	if made.Status != 200 || !strings.Contains(string(made.Body), "<talkback-comments") {
		t.Errorf("%d: %s", made.Status, made.Body)
	}
}
