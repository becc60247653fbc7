package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/goldentest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// fixture is an answer of the API, with its address. The resulting markup is beside it. The tests
// of the element compare the two renderers in a browser.
type fixture struct {
	Path    string          `json:"path"`
	Query   string          `json:"query"`
	Locale  string          `json:"locale"`
	Explain bool            `json:"explain"`
	Answer  json.RawMessage `json:"answer"`
}

// fixtures reads testdata, by name.
func fixtures(t testing.TB) map[string]fixture {
	t.Helper()
	paths, err := filepath.Glob("product/testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	all := map[string]fixture{}
	for _, path := range paths {
		content := must.Get(os.ReadFile(path))(t)
		var f fixture
		if err := json.Unmarshal(content, &f); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[strings.TrimSuffix(filepath.Base(path), ".json")] = f
	}
	return all
}

func (f fixture) state(t testing.TB) state {
	t.Helper()
	s, ok := parse(t, f.Path+"?"+f.Query)
	if !ok || s.path() != f.Path || s.query() != f.Query {
		t.Fatalf("%s?%s is not written as the page writes it, %s", f.Path, f.Query, s.address())
	}
	return s
}

func TestMarkup(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			texts := textsFor(f.Locale)
			v := texts.viewOf(f.state(t), parseAnswer(f.state(t), f.Answer))
			if !f.Explain {
				v.Plan = nil
			}
			var out bytes.Buffer
			must.Do(t, templates[texts.lang]().ExecuteTemplate(&out, "element", v))
			out.WriteByte('\n')
			goldentest.Compare(t, "product/testdata/"+name+".html", out.Bytes())
		})
	}
}

// Every state gives a page that a parser accepts without repairs and that contains the element.
func TestPagesAreWellFormed(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			page := get(t, f.Answer, 200, f.Path+"?"+f.Query, f.Locale)
			wellFormed(t, page.Body)
			markup := must.Get(os.ReadFile("product/testdata/" + name + ".html"))(t)
			if f.Explain && !bytes.Contains(page.Body, bytes.TrimSpace(markup)) {
				t.Error("the page does not hold the markup of its element")
			}
		})
	}
}

// get requests a page, with an API that gives one answer.
func get(t testing.TB, answer []byte, status int, address, language string) productPage {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(answer)
	})
	must.Get(url.Parse(address))(t)
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("Accept-Language", language)
	pages := newProductPages(api, []byte(":host{display:block}"))
	pages.Plans = true
	return pages.Product(r, "https://shop.example")
}

// The inside of an element equals the page's, except that its links lead to another page. A text
// replaces what cannot be shown, such as an impossible choice.
func TestInside(t *testing.T) {
	for _, row := range []struct {
		address, fixture string
		status           int
		shows            string
	}{
		{"/products/espresso-machine/element", "first", 200, `href="/products/espresso-machine"`},
		{"/products/espresso-machine/element?path=/shop/coffee", "first", 200, `href="/shop/coffee"`},
		{"/products/a%2Fb/element?path=/%22%3E%3Cscript%3E", "first", 200, `action="/%22%3e%3cscript%3e"`},
		{"/products/42/element?page=999", "beyond", 404, "?page=151"},
		{"/products/42/element?path=//elsewhere.example", "first", 400, "path=/shop/lamp"},
		{"/products/42/element?path=javascript:alert(1)", "first", 400, "path=/shop/lamp"},
		{"/products/a/b/element", "first", 404, "no product"},
		{"/products//element", "first", 404, "no product"},
		{"/products/42/element", "throttled", 503, `role="alert"`},
		{"/products/42/element?page=7&path=/shop", "refused", 400, `<a class="button" href="/shop">First page</a>`},
	} {
		answer := answerOf(t, row.fixture)
		pages := newProductPages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answer) }), []byte(":host{}"))
		page := pages.Inside(httptest.NewRequest(http.MethodGet, row.address, nil))
		body := string(page.Body)
		if page.Status != row.status || !strings.Contains(body, row.shows) || (page.Version != "") != (row.status == 200) {
			t.Errorf("%s: %d, kept %v, want %d with %q:\n%.300s", row.address, page.Status, page.Version != "", row.status, row.shows, body)
		}
		if bare, _, _ := strings.Cut(row.address, "/element"); row.shows == `href="`+bare+`"` {
			if whole := pages.Product(httptest.NewRequest(http.MethodGet, bare, nil), ""); !strings.Contains(string(whole.Body), body) {
				t.Errorf("%s: the page of the product has another inside", row.address)
			}
		}
	}
}
