package web

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// catalogOf returns the catalog of a shop on this machine.
func catalogOf(t *testing.T, shop http.HandlerFunc) *Catalog {
	t.Helper()
	server := httptest.NewServer(shop)
	t.Cleanup(server.Close)
	return must.Get(NewCatalog(t.Context(), server.URL+"/p/{id}", true, slog.New(slog.DiscardHandler)))(t)
}

// settled returns the catalog's result once the shop has answered, however busy the machine is.
func settled(t *testing.T, c *Catalog, id string) Product {
	for {
		found := c.Find(t.Context(), id)[id]
		if _, answered := c.known.Peek(id); answered || t.Context().Err() != nil {
			return found
		}
	}
}

// Whatever the shop answers, the name is clean or missing.
func TestAnswers(t *testing.T) {
	const page = "text/html; charset=utf-8"
	ld := func(json string) string {
		return `<!doctype html><script>var a = {"@type":"Product","name":"no"}</script><script type="application/ld+json">` + json + `</script><p>`
	}
	for _, row := range []struct{ reason, kind, body, name, image string }{
		{"JSON", "application/json", `{"name":"Kettle","image":"https://cdn.example/k.jpg"}`, "Kettle", "https://cdn.example/k.jpg"},
		{"JSON-LD", "application/ld+json", `{"@context":"https://schema.org","@type":"Product","name":"Kettle"}`, "Kettle", ""},
		{"a page", page, ld(`{"@type":"Organization","name":"Shop"}`) + ld(`{"@graph":[{"@type":"WebPage","name":"no"},{"@type":["https://schema.org/Product"],"name":"Kettle","image":["/k.jpg"]}]}`), "Kettle", "SHOP/k.jpg"},
		{"a page about a product", page, ld(`{"@type":"ItemPage","mainEntity":{"@type":"Product","name":"Kettle","image":{"url":"k.jpg"}}}`), "Kettle", "SHOP/p/k.jpg"},
		{"markup stays text", page, ld(`{"@type":"Product","name":"<b onload=alert(1)>\"'&amp;&lt;i>"}`), `<b onload=alert(1)>"'&<i>`, ""},
		{"controls", "application/json", `{"name":" \u0000Ket\u202etle\u001b[31m\n\t\u2028pot\u009b "}`, "Kettle[31m pot", ""},
		{"a long name", "application/json", `{"name":"` + strings.Repeat("ä", 5000) + `"}`, strings.Repeat("ä", maxName-1) + "…", ""},
		{"a picture that is a script", "application/json", `{"name":"Kettle","image":"javascript:alert(1)"}`, "Kettle", ""},
		{"a picture with a password", "application/json", `{"name":"Kettle","image":"https://a:b@shop.example/k.jpg"}`, "Kettle", ""},
		{"a huge page", page, strings.Repeat("x", maxBytes) + ld(`{"@type":"Product","name":"Kettle"}`), "", ""},
		{"deep JSON", "application/json", strings.Repeat(`{"@graph":[`, 100_000), "", ""},
		{"a picture", "image/png", "\x89PNG", "", ""},
		{"no type", "", `{"name":"Kettle"}`, "", ""},
		{"a page without a product", page, ld(`{"@type":"WebPage","name":"Shop"}`) + ld(`{`), "", ""},
		{"a name that is none", "application/json", `{"name":{"en":"Kettle"}}`, "", ""},
		{"a list", "application/json", `[]`, "", ""},
		{"nothing", "application/json", ``, "", ""},
	} {
		c := catalogOf(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = []string{row.kind}
			_, _ = io.WriteString(w, row.body)
		})
		got := settled(t, c, "1")
		if shop := strings.TrimSuffix(c.address.path, "/p/{id}"); got.Name != row.name || got.Image != strings.Replace(row.image, "SHOP", shop, 1) {
			t.Errorf("%s: %+v, want %q, %q", row.reason, got, row.name, row.image)
		}
	}
}

// A cached name keeps nothing else of the answer in memory.
func TestNamesAreSmall(t *testing.T) {
	before := commenttest.Heap()
	var names []string
	for range 50 {
		names = append(names, cleaned("Kettle"+strings.Repeat(" ", 1<<20)))
	}
	if grown := commenttest.Heap() - before; grown > 5<<20 {
		t.Errorf("%d names hold %d bytes", len(names), grown)
	}
	runtime.KeepAlive(names)
}

// A product links only to its own page at the shop.
func TestWhereItLeads(t *testing.T) {
	c := catalogOf(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); {
		case to != "":
			http.Redirect(w, r, to, http.StatusFound)
		case r.URL.Path == "/secret", !strings.HasPrefix(r.URL.Path, "/p/"):
			t.Errorf("the shop was asked for %s", r.RequestURI)
		default:
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"name":%q}`, r.RequestURI)
		}
	})
	c.address.query = "?to={id}"
	for to, want := range map[string]string{
		"": "/p/?to=", "/p/other": "/p/other", "http://169.254.169.254/latest/meta-data/": "", "https://shop.example/p/1": "", "file:///etc/passwd": "",
	} {
		if c.address.path = strings.Replace(c.address.path, "{id}", "", 1); settled(t, c, to).Name != want {
			t.Errorf("a redirect to %q is followed to %+v, want %q", to, settled(t, c, to), want)
		}
	}
	c.address = address{c.address.path + "{id}", ""}
	for id, want := range map[string]string{"../secret": "/p/..%2Fsecret", "..": "", "a?b#c&d": "/p/a%3Fb%23c&d", "é": "/p/%C3%A9"} {
		if got := settled(t, c, id).Name; got != want {
			t.Errorf("the product %q is asked for at %q, want %q", id, got, want)
		}
	}
}

// Internal machines are never asked unless allowed, by address and by name.
func TestCatalogInside(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the machine inside was asked") }))
	defer server.Close()
	for _, host := range []string{"127.0.0.1", "localhost"} {
		var said strings.Builder
		c := must.Get(NewCatalog(t.Context(), strings.Replace(server.URL, "127.0.0.1", host, 1)+"/{id}", false, slog.New(slog.NewTextHandler(&said, nil))))(t)
		if c.fetching.Do("1", func() (any, error) { return nil, c.refresh("1") }); !strings.Contains(said.String(), "which is not a public address") {
			t.Errorf("%s: the log says %q", host, said.String())
		}
	}
}

// A slow shop is asked once for a product and for few at a time, and no page waits for it. The name
// is there later.
func TestSlowShop(t *testing.T) {
	answers := make(chan struct{})
	var now, most, asked atomic.Int32
	c := catalogOf(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/p/0" {
			asked.Add(1)
		}
		for n := now.Add(1); ; {
			if before := most.Load(); n <= before || most.CompareAndSwap(before, n) {
				break
			}
		}
		defer now.Add(-1)
		<-answers
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"Kettle"}`)
	})
	var pages sync.WaitGroup
	for i := range 40 {
		pages.Go(func() {
			if found := c.Find(t.Context(), fmt.Sprint(i%20)); found[fmt.Sprint(i%20)].Name != "" {
				t.Error("a name is there before the shop has answered")
			}
		})
	}
	pages.Wait() // while the shop says nothing
	close(answers)
	for settled(t, c, "0").Name != "Kettle" && t.Context().Err() == nil {
		c.known.Remove("0") // a fetch that took too long on a busy machine
	}
	if most.Load() > maxFetches {
		t.Errorf("%d fetches at a time, want at most %d", most.Load(), maxFetches)
	}
	before := asked.Load()
	if c.Find(t.Context(), "0"); asked.Load() != before {
		t.Error("a known product is asked for again")
	}
}

// A failure is cached for a while, and known names stay.
func TestFailingShop(t *testing.T) {
	var asked atomic.Int32
	c := catalogOf(t, func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c.known.Add("old", catalogEntry{Product: Product{Name: "Kettle"}})
	for range 3 {
		settled(t, c, "new")
	}
	if name := settled(t, c, "old").Name; name != "Kettle" {
		t.Errorf("the old name is %q", name)
	}
	for e, _ := c.known.Peek("old"); e.until.IsZero(); e, _ = c.known.Peek("old") {
		c.Find(t.Context(), "old")
	}
	if got := asked.Load(); got != 2 {
		t.Errorf("the failing shop was asked %d times for two products", got)
	}
}

func TestAddresses(t *testing.T) {
	for template, cure := range map[string]string{
		"https://shop.example/products/{id}":      "",
		"https://shop.example/api?sku={id}&x=1":   "",
		"http://shop.example/{id}":                "--product-info-inside",
		"https://shop.example/products":           "in place of a product's id",
		"https://{id}.example/products":           "in place of a product's id",
		"https://{id}@shop.example/{id}":          "in place of a product's id",
		"https://shop.example/#{id}":              "in place of a product's id",
		"shop.example/{id}":                       "such as https://",
		"ftp://shop.example/{id}":                 "such as https://",
		"https://shop.example:port/products/{id}": "such as https://",
	} {
		if _, err := parseAddress(template, false); (err == nil) != (cure == "") || err != nil && !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v, want %q in it", template, err, cure)
		}
	}
	if _, err := parseAddress("http://catalog.internal/{id}", true); err != nil {
		t.Error(err)
	}
}

// What is remembered of a product keeps nothing else of the request in memory: visitors choose the
// products, and how long their addresses are.
func TestCatalogKeepsNoAddresses(t *testing.T) {
	c := catalogOf(t, func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
	c.patience = time.Minute
	const requests, size = 32, 1 << 20
	before := commenttest.Heap()
	for i := range requests {
		c.Find(t.Context(), strings.Repeat(strconv.Itoa(i)+"-", size)[:3])
	}
	if grown := commenttest.Heap() - before; c.known.Len() != requests || grown > requests*size/4 {
		t.Errorf("%d products keep %d bytes in memory", c.known.Len(), grown)
	}
}
