package web

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/internal/schematest"
)

// The answers of an API, by the names of the operations.
const (
	someLeaders = `{"data":{"leaderboard":[
		{"rank":1,"count":1873,"product":{"id":"espresso-machine","stats":{"total":3016,"average":4.28},"languages":[{"language":"en","count":5},{"language":"de","count":3}]}},
		{"rank":2,"count":9,"product":{"id":"a/b c","stats":null,"languages":[{"language":"fr","count":4}]}}]}}`
	someBoards = `{"data":{"b0":[{"rank":1,"count":765,"product":{"id":"espresso-machine"}}],"b1":[],"b2":null}}`
	somePraise = `{"data":{"product":{"stats":{"total":3016},"comments":{"nodes":[{"title":"<b>\"x\": 1</b>"}],"plan":{"waves":1,"readUnits":0.5,"milliseconds":2,"summary":"read 3\n  by ratings"}}}},"extensions":{"cost":{"readUnits":1.5}}}`
	somePage   = `{"data":{"product":{"id":"espresso-machine","stats":{"total":1},"list":{"nodes":[{"rating":5,"title":"<i>","author":{"name":"A"}}]}}}}`
	noLeaders  = `{"data":{"leaderboard":[]}}`
	noPraise   = `{"data":{"product":{"stats":{"total":0},"comments":{"nodes":[],"plan":{"summary":""}}}}}`
	failing    = `{"errors":[{"message":"table not there"}],"data":{"product":null,"leaderboard":null}}`
)

func newStub(t *testing.T, leaders, boards, praise string) *stub {
	t.Helper()
	return &stub{schema: schematest.Load(t), answers: map[string]string{"Leaders": leaders, "LeadersByLanguage": boards, "NewestPraise": praise, "ProductPage": somePage}}
}

// made returns the page for an API.
func made(t *testing.T, api http.Handler, schema bool) string {
	t.Helper()
	h := &homePage{api: api, pages: newProductPages(api, nil), schema: schema}
	r := httptest.NewRequest("GET", "/", nil)
	r.Host, r.TLS = "shop.example", &tls.ConnectionState{}
	return string(h.at(r).unpacked())
}

// Whatever the API answers, there is a page, and its parts agree.
func TestStates(t *testing.T) {
	for _, row := range []struct {
		why         string
		api         http.Handler
		has, hasNot []string
	}{
		{"comments", newStub(t, someLeaders, someBoards, somePraise),
			[]string{
				`href="/products/espresso-machine">See a product page`, `href="/products/a%2Fb%20c"><bdi>a/b c<`, "1,873", "4.3", "of 3,016",
				`lang="en">English</h3>`, "<li>1.5 read units</li>", "<li>1 wave</li>", "<p>by ratings</p>",
				"in one round trip. A million such views cost $0.19 by its list price.", `<talkback-comments product="espresso-machine" endpoint="/graphql">`, "&lt;i&gt;",
				`<span class="key">&#34;title&#34;:</span> <span class="string">&#34;&lt;b&gt;\&#34;x\&#34;: 1&lt;/b&gt;&#34;</span>`,
			},
			[]string{"does not answer", "no five-star", `lang="fr">`, "<b>", "<i>"}},
		{"an empty table", newStub(t, noLeaders, "", noPraise),
			[]string{"this one has none at all", "No product has a five-star comment yet", "--sample-data"},
			[]string{"See a product page", "does not answer", "How it was read", "<table", "<talkback-comments product=\"espresso-machine\" endpoint=\"/graphql\">"}},
		{"a first comment, not counted yet", newStub(t, noLeaders, "", strings.Replace(somePraise, "3016", "0", 1)),
			[]string{"See a product page", "moments after its first five-star comment"}, []string{"none at all", "No product has"}},
		{"a failing table", newStub(t, failing, "", failing),
			[]string{"does not answer", "503 Service Unavailable", "as soon as the API answers", "Open the explorer", "curl --get"},
			[]string{"See a product page", "table not there", "How it was read", "<table"}},
		{"leaders that are refused, and a product that another shop has", newStub(t, failing, "", noPraise),
			[]string{"does not answer", "503 Service Unavailable", "as soon as the API answers"}, []string{"No product has", "none at all"}},
		{"leaders that are refused, and a product with comments", newStub(t, failing, "", somePraise), []string{"<li>1 wave</li>"}, []string{"does not answer"}},
		{"an API that is no API", http.NotFoundHandler(), []string{"does not answer", "404 Not Found"}, []string{"page not found"}},
		{"leaders without languages", newStub(t, someLeaders, "", somePraise), []string{"1,873"}, []string{`lang="en">English`}},
	} {
		page := made(t, row.api, true)
		for _, text := range row.has {
			if !strings.Contains(page, text) {
				t.Errorf("%s: no %q in\n%s", row.why, text, page)
			}
		}
		for _, text := range row.hasNot {
			if strings.Contains(page, text) {
				t.Errorf("%s: %q in\n%s", row.why, text, page)
			}
		}
	}
}

// The leaderboard has the names that the shop gives to products, and ids where it gives none.
func TestLeadersAreNamed(t *testing.T) {
	s := &snapshot{named: map[string]Product{"a": {Name: "Kettle"}}}
	entries := make([]entry, 2)
	entries[0].Product.ID, entries[1].Product.ID = "a", "b"
	rows := s.rows(entries)
	if rows[0].Product != "Kettle" || rows[0].Address != "/products/a" || rows[1].Product != "b" {
		t.Errorf("%+v", rows)
	}
	s.leaders, s.byLanguage = entries, []board{{leaders: entries[:1]}}
	if ids := s.products(); !slices.Equal(ids, []string{"a", "b"}) {
		t.Errorf("the catalog is asked for %v", ids)
	}
}

// Without introspection, no link leads to the hidden schema.
func TestSchemaIsLinkedIfServed(t *testing.T) {
	for _, shown := range []bool{true, false} {
		page := made(t, newStub(t, someLeaders, someBoards, somePraise), shown)
		if strings.Contains(page, "schema.graphql") != shown {
			t.Errorf("shown %v: the page has it otherwise", shown)
		}
	}
}

// However many readers come, the API is asked once in some seconds, also while it fails. A reader
// who leaves does not affect the others.
func TestAnswersAreKept(t *testing.T) {
	for _, praise := range []string{somePraise, failing} {
		synctest.Test(t, func(t *testing.T) {
			api := newStub(t, someLeaders, someBoards, praise)
			h := &homePage{api: api, pages: newProductPages(api, nil)}
			gone := httptest.NewRequest("GET", "/", nil)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			h.at(gone.WithContext(ctx))
			var readers sync.WaitGroup
			for range 20 {
				readers.Go(func() { h.at(httptest.NewRequest("GET", "/", nil)) })
			}
			readers.Wait()
			time.Sleep(homeKeptFor)
			h.at(gone)
			once := []string{"Leaders", "LeadersByLanguage", "NewestPraise", "ProductPage"}
			if !slices.Equal(api.asked, once) {
				t.Errorf("within %v the API was asked %v, want %v", homeKeptFor, api.asked, once)
			}
			time.Sleep(time.Nanosecond)
			if h.at(gone); len(api.asked) != 2*len(once) {
				t.Errorf("later, the API was asked %v, want everything once more", api.asked)
			}
		})
	}
}

// Copied commands work in a shell and in a page, whatever a product is called.
func TestHostileNames(t *testing.T) {
	const hostile = `it's "$(id)" </script> & co`
	all := snippets("https://shop.example", hostile)
	i := slices.IndexFunc(all, func(s snippet) bool { return s.Key == "curl" })
	out := must.Get(exec.Command("sh", "-c", "curl() { printf '%s\\0' \"$@\"; }\n"+all[i].Text).Output())(t)
	variables := must.Get(json.Marshal(map[string]string{"id": hostile}))(t)
	want := []string{"--get", "https://shop.example/graphql", "--data-urlencode", "variables=" + string(variables), "--data-urlencode", "query=" + strings.TrimSpace(showcase), ""}
	if got := strings.Split(string(out), "\x00"); !slices.Equal(got, want) {
		t.Errorf("the shell passes %q, want %q", got, want)
	}
	for _, s := range all[1:] {
		if strings.Contains(s.Text, "</script>") || !strings.Contains(s.Text, "NewestPraise") {
			t.Errorf("%s: %s", s.Name, s.Text)
		}
	}
	tag := embedding("https://shop.example", hostile)
	value, _, _ := strings.Cut(strings.SplitN(tag, `product="`, 2)[1], `"`)
	if html.UnescapeString(value) != hostile {
		t.Errorf("the element is for the product %q, want %q", html.UnescapeString(value), hostile)
	}
}
