package product

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

	"github.com/talkback/talkback/internal/commenttest/golden"
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
	paths, err := filepath.Glob("testdata/*.json")
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
			v := texts.viewOf(f.state(t), parseAnswer(f.Answer))
			if !f.Explain {
				v.Plan = nil
			}
			var out bytes.Buffer
			must.Do(t, templates[texts.lang]().ExecuteTemplate(&out, "element", v))
			out.WriteByte('\n')
			golden.Compare(t, "testdata/"+name+".html", out.Bytes())
		})
	}
}

// Every state gives a page that a parser accepts without repairs and that contains the element.
func TestPagesAreWellFormed(t *testing.T) {
	for name, f := range fixtures(t) {
		t.Run(name, func(t *testing.T) {
			page := get(t, f.Answer, 200, f.Path+"?"+f.Query, f.Locale)
			wellFormed(t, page.Body)
			markup := must.Get(os.ReadFile("testdata/" + name + ".html"))(t)
			if f.Explain && !bytes.Contains(page.Body, bytes.TrimSpace(markup)) {
				t.Error("the page does not hold the markup of its element")
			}
		})
	}
}

// get requests a page, with an API that gives one answer.
func get(t testing.TB, answer []byte, status int, address, language string) Page {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(answer)
	})
	must.Get(url.Parse(address))(t)
	r := httptest.NewRequest(http.MethodGet, address, nil)
	r.Header.Set("Accept-Language", language)
	pages := New(api, []byte(":host{display:block}"))
	pages.Plans = true
	return pages.Product(r, "https://shop.example")
}
