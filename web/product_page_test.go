package web

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// answerOf returns the answer of a fixture.
func answerOf(t testing.TB, name string) []byte {
	t.Helper()
	f, known := fixtures(t)[name]
	if !known {
		t.Fatalf("no fixture %s", name)
	}
	return f.Answer
}

func TestStatuses(t *testing.T) {
	first := string(answerOf(t, "first"))
	withList := func(code string) string {
		return `{"data":{"product":{"list":null}},"errors":[{"path":["product","list"],"extensions":{"code":"` + code + `"}}]}`
	}
	for _, row := range []struct {
		address, answer string
		status          int // of the API
		want            int
		shows           string
		reason          string
	}{
		{"/products/42", first, 200, 200, "3,016 comments", "comments"},
		{"/products/42", string(answerOf(t, "empty")), 200, 200, "No comments yet.", "a product without comments is no error: only the shop knows which exist"},
		{"/products/42?language=sw", string(answerOf(t, "nomatch")), 200, 200, "No comments match", "a filter that matches nothing"},
		{"/products/42", strings.Replace(string(answerOf(t, "one")), `"total": 1`, `"total": 0`, 1), 200, 200, `"ratingCount":1}`, "a first comment, not counted yet"},
		{"/products/42?after=x", strings.NewReplacer(`"pageNumber": null`, `"pageNumber": 151`, "3016", "3002").Replace(string(answerOf(t, "cursors"))), 200, 200, "3,002 comments", "a page behind a cursor begins before the one whose number it has"},
		{"/products/42", string(answerOf(t, "uncounted")), 200, 200, "class=\"list\"", "no counts yet, and a list"},
		{"/products/42?page=999", string(answerOf(t, "beyond")), 200, 404, "?page=151", "a page beyond the last leads to the last"},
		{"/products/", first, 200, 404, "nothing at this address", "no id"},
		{"/products/c_1", `{"data":{"product":null},"errors":[{"path":["product"],"extensions":{"code":"BAD_INPUT"}}]}`, 200, 404, "No product can have", "an id that no product can have"},
		{"/products/42", `{"errors":[{"extensions":{"code":"BODY_TOO_LARGE"}}]}`, 413, 404, "No product can have", "an id that is too long to ask for"},
		{"/products/42", `{"errors":[{"extensions":{"code":"QUERY_TOO_LONG"}}]}`, 413, 500, "role=\"alert\"", "a server that takes only shorter operations, whatever the id"},
		{"/products/42?after=x&language=de", withList("BAD_CURSOR"), 200, 400, `cannot be found right now. The first pages can.</p><a class="button" href="?language=de&amp;after=x">Try again</a><a class="button" href="?language=de">First page</a>`, "a cursor of another list"},
		{"/products/42?language=de", `{"errors":[{"extensions":{"code":"TOO_COMPLEX"}}]}`, 400, 400, `too much to look up. Choose fewer filters or an earlier page.</p><a class="button" href="/products/42" rel="nofollow">Clear filters</a></div>`, "more is chosen than the API reads, now and later"},
		{"/products/42?page=5&language=de", `{"errors":[{"extensions":{"code":"TOO_COMPLEX"}}]}`, 400, 400, `<a class="button" href="?language=de">First page</a><a class="button" href="/products/42" rel="nofollow">Clear filters</a>`, "the first page of a choice is cheaper than the others"},
		{"/products/42?page=5", withList("TOO_COSTLY"), 200, 400, "too much to look up", "the page has read too much"},
		{"/products/42", `{"errors":[{"extensions":{"code":"TOO_COMPLEX"}}]}`, 400, 500, "role=\"alert\"", "the first page has nothing to give up"},
		{"/products/42", withList("BAD_INPUT"), 200, 500, "role=\"alert\"", "the first page leads nowhere else"},
		{"/products/42", withList("INTERNAL"), 200, 500, "role=\"alert\"", "a fault of the server stays"},
		{"/products/42?page=7&rating=5", withList("BAD_INPUT"), 200, 400, `<a class="button" href="?rating=5">First page</a>`, "numbers are off, and cursors lead on from the first page"},
		{"/products/42?page=7", withList("UNAVAILABLE"), 200, 503, "First page", "numbers are away, and the first pages are not"},
		{"/products/42", withList("THROTTLED"), 200, 503, "Too many people", "the table is throttled"},
		{"/products/42", withList("TIMEOUT"), 200, 503, "in a moment", "the table is slow"},
		{"/products/42", `{"errors":[{"extensions":{"code":"OVERLOADED"}}]}`, 503, 503, "Too many people", "the API takes no more"},
		{"/products/42", `{"errors":[{"extensions":{"code":"RATE_LIMITED"}}]}`, 429, 429, "That was too much in a short time", "the visitor is limited"},
		{"/products/42", `{"errors":[{"extensions":{"code":"UNAUTHENTICATED"}}]}`, 401, 503, "Sign in to see the comments.", "the service is not public"},
		{"/products/42", `<html>Bad gateway</html>`, 502, 503, "role=\"alert\"", "no answer of the API's"},
		{"/products/42", ``, 200, 503, "role=\"alert\"", "nothing"},
		{"/products/42", `{"data":null}`, 200, 503, "role=\"alert\"", "null"},
	} {
		page := get(t, []byte(row.answer), row.status, row.address, "en")
		if page.Status != row.want || !strings.Contains(string(page.Body), row.shows) {
			t.Errorf("%s: %s is %d, want %d with %q:\n%s", row.reason, row.address, page.Status, row.want, row.shows, page.Body)
			continue
		}
		wellFormed(t, page.Body)
		if again := page.Header.Get("Retry-After"); (page.Status == 503 || page.Status == 429) != (again == "5") {
			t.Errorf("%s: %d with Retry-After %q", row.reason, page.Status, again)
		}
		if kept := page.Version != ""; kept != (page.Status == 200) {
			t.Errorf("%s: may be kept: %t", row.reason, kept)
		}
		if listed := !strings.Contains(string(page.Body), "noindex"); listed && page.Status != 200 {
			t.Errorf("%s: search engines are let in", row.reason)
		}
	}
}

// The API's Retry-After is passed on if it is a number of seconds.
func TestRetryAfter(t *testing.T) {
	for said, want := range map[string]string{"17": "17", "": "5", "Wed, 21 Oct 2026 07:28:00 GMT": "5", "-1": "5"} {
		api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", said)
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		page := newProductPages(api, nil).Product(httptest.NewRequest(http.MethodGet, "/products/42", nil), "")
		if got := page.Header.Get("Retry-After"); got != want {
			t.Errorf("the API says %q, the page %q; want %q", said, got, want)
		}
	}
}

// A page waits for a slow API, up to a limit.
func TestSlowAPI(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	pages := newProductPages(api, nil)
	pages.timeout = time.Millisecond
	page := pages.Product(httptest.NewRequest(http.MethodGet, "/products/42", nil), "")
	if page.Status != http.StatusServiceUnavailable {
		t.Errorf("status %d, want 503", page.Status)
	}
}

// The metadata for search engines in each state.
func TestHead(t *testing.T) {
	for _, row := range []struct {
		fixture, canonical, previous, next string
		listed                             bool
	}{
		{"first", "/products/espresso-machine", "", "?page=2", true},
		{"german", "/products/espresso-machine?page=2", "/products/espresso-machine", "?page=3", true},
		{"last", "/products/espresso-machine?page=151", "?page=150", "", true},
		{"ratings", "/products/espresso-machine", "?page=2&rating=5&rating=4", "?page=4&rating=5&rating=4", false},
		{"dates", "/products/espresso-machine", "", "?page=2&rating=1&order=oldest&from=2025-01-01&to=2025-12-31", false},
		{"empty", "/products/caf%C3%A9%2Fcr%C3%A8me", "", "", false},
		{"beyond", "/products/espresso-machine?page=999", "?page=151", "", false},
		{"cursors", "/products/espresso-machine", "?before=AQGgnJoIMNaCdJOPdQCNdhPpHP40qFGa94qO", "?after=AQGgnJoIMNaCdJOPdQCNdhPpHP40qFGa94qP", true},
	} {
		f := fixtures(t)[row.fixture]
		page := tree(t, get(t, f.Answer, 200, f.Path+"?"+f.Query, f.Locale).Body)
		links := map[string]string{}
		for _, link := range page.named("link") {
			links[link.attributes["rel"]] = link.attributes["href"]
		}
		if links["canonical"] != "https://shop.example"+row.canonical || links["prev"] != row.previous || links["next"] != row.next {
			t.Errorf("%s: links %v", row.fixture, links)
		}
		robots := page.find(func(n node) bool { return n.attributes["name"] == "robots" })
		if (len(robots) == 0) != row.listed || !row.listed && robots[0].attributes["content"] != "noindex, follow" {
			t.Errorf("%s: robots %v, want listed: %t", row.fixture, robots, row.listed)
		}
		if title := page.named("title")[0].content(); !strings.Contains(title, f.state(t).Product) {
			t.Errorf("%s: title %q", row.fixture, title)
		}
		h1, h2 := page.named("h1"), page.named("h2")[0].content()
		if said := textsFor(f.Locale).say("page.heading"); len(h1) != 1 || h1[0].content() != said || !strings.HasSuffix(h2, " "+f.state(t).Product) {
			t.Errorf("%s: headings %v, %q", row.fixture, h1, h2)
		}
	}
}

// A page uses the shop's name of the product, whatever that is. Without a name it says what it
// shows.
func TestNames(t *testing.T) {
	const name = `Kettle <b>"5 l"</b> {{.}} </script>`
	shop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "image": "https://cdn.example/k.jpg"})
	}))
	defer shop.Close()
	named := must.Get(NewCatalog(t.Context(), shop.URL+"/{id}", true, slog.New(slog.DiscardHandler)))(t)
	for named.Find(t.Context(), "42")["42"].Name == "" && t.Context().Err() == nil { // a busy machine is slow
	}
	pages := newProductPages(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(answerOf(t, "first")) }), nil)
	seen := ""
	for _, row := range []struct {
		catalog              *Catalog
		title, h1, h2, image string
	}{
		{nil, "42: customer comments", "What customers say", "Product 42", ""},
		{named, name + ": customer comments", name, "What customers say", "https://cdn.example/k.jpg"},
	} {
		pages.Catalog = row.catalog
		made := pages.Product(httptest.NewRequest(http.MethodGet, "/products/42", nil), "")
		wellFormed(t, made.Body)
		page := tree(t, made.Body)
		if title, h1, h2 := page.named("title")[0].content(), page.named("h1")[0].content(), page.named("h2")[0].content(); title != row.title || h1 != row.h1 || h2 != row.h2 {
			t.Errorf("%q, %q, %q, want %+v", title, h1, h2, row)
		}
		previewed := ""
		for _, found := range page.find(func(n node) bool { return n.attributes["property"] == "og:image" }) {
			previewed += found.attributes["content"]
		}
		if previewed != row.image {
			t.Errorf("a preview of the page shows %q, want %q", previewed, row.image)
		}
		_, rest, _ := strings.Cut(string(made.Body), `<script type="application/ld+json">`)
		text, _, _ := strings.Cut(rest, "</script>")
		var data structured
		if err := json.Unmarshal([]byte(text), &data); err != nil || data.Image != row.image || row.catalog != nil && data.Name != name {
			t.Errorf("%v: %+v", err, data)
		}
		if made.Version == seen {
			t.Error("a page with a name has the version of one without")
		}
		seen = made.Version
	}
}

// A page keeps its version until its content changes. Times and costs of reading do not count.
func TestVersion(t *testing.T) {
	first := string(answerOf(t, "first"))
	version := func(answer, address, language string) string {
		return get(t, []byte(answer), 200, address, language).Version
	}
	seen := map[string]string{}
	for _, row := range []struct{ reason, answer, address, language string }{
		{"the page", first, "/products/42", "en"},
		{"another comment", strings.Replace(first, `"rating": 5`, `"rating": 4`, 1), "/products/42", "en"},
		{"another count", strings.Replace(first, `"total": 3016`, `"total": 3017`, 1), "/products/42", "en"},
		{"another reader", strings.Replace(first, `"mayWrite": true`, `"mayWrite": false`, 1), "/products/42", "en"},
		{"another address", first, "/products/42?page=2", "en"},
		{"another language", first, "/products/42", "de"},
	} {
		got := version(row.answer, row.address, row.language)
		if same, known := seen[got]; known {
			t.Errorf("%s has the version of %s", row.reason, same)
		}
		seen[got] = row.reason
	}
	slower := strings.NewReplacer(`"milliseconds": 2.41`, `"milliseconds": 9.9`, `"age": 0`, `"age": 700`).Replace(first)
	if slower == first || seen[version(slower, "/products/42", "en")] != "the page" {
		t.Error("a page that took longer to read has another version")
	}
}

// The state in the page is the API's answer without its cost, and the question.
func TestEmbeddedState(t *testing.T) {
	for _, name := range []string{"ratings", "hostile"} {
		f := fixtures(t)[name]
		page := string(get(t, f.Answer, 200, f.Path+"?"+f.Query, "de").Body)
		_, rest, _ := strings.Cut(page, `<script type="application/json" class="talkback-state">`)
		text, _, _ := strings.Cut(rest, "</script>")
		var got struct {
			Locale, Query string
			Variables     variables
			Answer        json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s: %v in %s", name, err, text)
		}
		if strings.ContainsAny(text, "<>&\u2028\u2029") {
			t.Errorf("%s: the state has characters that can end its script: %s", name, text)
		}
		var given map[string]json.RawMessage
		must.Do(t, json.Unmarshal(f.Answer, &given))
		delete(given, "extensions")
		said := must.Get(json.Marshal(given))(t)
		if got.Locale != "de" || got.Query != f.Query || got.Variables.ID != f.state(t).Product || !sameJSON(t, got.Answer, said) {
			t.Errorf("%s: the state is %+v", name, got)
		}
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	var x, y any
	must.Do(t, json.Unmarshal(a, &x))
	must.Do(t, json.Unmarshal(b, &y))
	one, _ := json.Marshal(x)
	other, _ := json.Marshal(y)
	return string(one) == string(other)
}
