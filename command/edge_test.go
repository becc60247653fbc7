package command_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	cdn "github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/nginxtest"
)

const (
	sharedFor  = "public, max-age=0, s-maxage=1, stale-while-revalidate=1"
	forOne     = "private, no-cache"
	forToken   = "private, no-store"
	forNobody  = "no-store"
	teapotPage = `{product(id:"teapot"){comments{nodes{id title votes{helpful}}}}}`
)

// sharing is a service with tokens whose answers shared caches may keep for a second. One comment
// of the teapot waits for a moderator; another is approved and has a vote.
func sharing(t *testing.T) (a *api, shown, waits comment.Comment) {
	t.Helper()
	a = guarded(t)
	a.serve.SharedCache = time.Second
	a.serve.CORSOrigin = append(a.serve.CORSOrigin, "https://shop.example", "https://other.example")
	all := commenttest.Many(commenttest.Rand(t), "teapot", 2)
	shown, waits = all[0], all[1]
	shown.ImportedVotes.Helpful, shown.Votes.Helpful = 1, 1
	waits.Status, waits.Moderation = comment.Pending, &comment.Moderation{Held: []comment.HoldReason{comment.HeldAlways}, Since: waits.CreatedAt()}
	a.load(shown, waits)
	a.pages = a.inTable(t, shown)
	a.useClient(a.session.Client)
	return a, shown, waits
}

// asItIs does not ask for compression by itself.
var asItIs = &http.Transport{DisableCompression: true}

// fetch sends a GET, or another method, with headers such as "Accept: text/html"; it skips empty
// ones.
func fetch(t testing.TB, method, address string, headers ...string) sent {
	t.Helper()
	return must.Get(send(t.Context(), asItIs, method, address, "", headers...))(t)
}

// asking returns the address of a query.
func asking(base, query string) string { return base + "/graphql?query=" + url.QueryEscape(query) }

// Shared caches may keep what is the same for everyone, and nothing else. They keep no answer to a
// token or with an error, and none that depends on the sender.
func TestWhatSharedCachesKeep(t *testing.T) {
	t.Parallel()
	a, shown, waits := sharing(t)
	many := `"` + strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range cdn.MaxProducts + 1 {
			if !yield(strings.Repeat("x", i+1)) {
				return
			}
		}
	}), `","`) + `"`
	for _, row := range []struct {
		why, method, query, header, want string
	}{
		{"a page", "GET", teapotPage, "", sharedFor},
		{"the head of a page", "HEAD", teapotPage, "", sharedFor},
		{"with a cookie of the shop, which is not read", "GET", teapotPage, "Cookie: session=1", sharedFor},
		{"from a page of the shop", "GET", teapotPage, "Origin: https://shop.example", sharedFor},
		{"counts", "GET", `{product(id:"teapot"){stats{total}}}`, "", sharedFor},
		{"a comment", "GET", `{comment(id:"` + string(shown.ID) + `"){title}}`, "", sharedFor},
		{"a moderator", "GET", teapotPage, "Authorization: Bearer " + moderatorToken, forToken},
		{"a customer", "GET", teapotPage, "Authorization: Bearer " + tokenOf(t, "u1", time.Hour), forToken},
		{"a token that is over", "GET", teapotPage, "Authorization: Bearer " + tokenOf(t, "u1", -time.Hour), forToken},
		{"no token at all", "GET", teapotPage, "Authorization: Basic dTE6cHc=", forToken},
		{"an empty header", "GET", teapotPage, "Authorization:", forToken},
		{"who asks", "GET", `{viewer{mayWrite} product(id:"teapot"){id}}`, "", forOne},
		{"who asks, in a fragment", "GET", `{product(id:"teapot"){id} ...F} fragment F on Query{v:viewer{mayWrite}}`, "", forOne},
		{"a vote of who asks", "GET", `{product(id:"teapot"){comments{nodes{votes{viewerVote}}}}}`, "", forOne},
		{"a comment that only some see", "GET", `{product(id:"teapot"){id} comment(id:"` + string(waits.ID) + `"){title}}`, "", forOne},
		{"the same as a node", "GET", `{product(id:"teapot"){id} node(id:"` + string(waits.ID) + `"){id}}`, "", forOne},
		{"nothing that can be purged", "GET", `{__typename}`, "", forOne},
		{"more products than an answer has tags", "GET", `{products(ids:[` + many + `]){id}}`, "", forOne},
		{"a comment of who asks", "GET", `{product(id:"teapot"){viewerComment{id}}}`, "", forOne},
		{"the desk, which is refused", "GET", `{moderation{pending}}`, "", forNobody},
		{"an error beside data", "GET", `{product(id:"teapot"){id} other:product(id:"c_1"){id}}`, "", forNobody},
		{"no operation", "GET", `{`, "", forNobody},
		{"a mutation", "GET", `mutation{deleteComment(input:{id:"` + string(shown.ID) + `"}){userErrors{code}}}`, "", forNobody},
		{"a page of another site", "GET", teapotPage, "Sec-Fetch-Site: cross-site", forNobody},
		{"a POST", "POST", teapotPage, "", forNobody},
	} {
		got := fetch(t, row.method, asking(a.server.URL, row.query), "Accept: application/json", row.header)
		wantTag := ""
		if row.want == sharedFor {
			wantTag = cdn.Tag("teapot")
		}
		if caching := got.header.Get("Cache-Control"); caching != row.want || got.header.Get("Surrogate-Key") != wantTag || got.header.Get("Cache-Tag") != wantTag {
			t.Errorf("%s: %d, Cache-Control %q with %q, want %q: %s", row.why, got.status, caching, got.header.Get("Surrogate-Key"), row.want, got.body)
		}
		if tag := got.header.Get("ETag"); row.want == forToken && tag != "" {
			t.Errorf("%s: ETag %q", row.why, tag)
		}
		if vary := got.header.Values("Vary"); len(vary) != 1 || row.want == sharedFor && vary[0] != "Origin, Accept, Authorization, Accept-Encoding" || row.want == forToken && !strings.Contains(vary[0], "Authorization") {
			t.Errorf("%s: Vary %q", row.why, vary)
		}
	}
}

// Product pages are the same for everyone, except on the machine that may write because there are
// no tokens.
func TestProductPagesAreShared(t *testing.T) {
	t.Parallel()
	a, _, _ := sharing(t)
	open := newAPI(t, a.session.Address)
	open.serve.SharedCache, open.pages = time.Second, open.inTable(t)
	open.useClient(open.session.Client)
	for _, row := range []struct{ why, address, header, want string }{
		{"a page", a.server.URL + "/products/teapot", "", sharedFor},
		{"its element", a.server.URL + "/products/teapot/element", "", sharedFor},
		{"a product that cannot be", a.server.URL + "/products/c_1", "", forNobody},
		{"this machine, which may write", open.server.URL + "/products/teapot", "", "no-cache"},
		{"others, who may not", open.server.URL + "/products/teapot", "X-Forwarded-For: 192.0.2.1", sharedFor},
	} {
		got := fetch(t, "GET", row.address, row.header)
		if caching := got.header.Get("Cache-Control"); caching != row.want || (got.header.Get("Surrogate-Key") != "") != (row.want == sharedFor) {
			t.Errorf("%s: %d, Cache-Control %q with %q, want %q", row.why, got.status, caching, got.header.Get("Surrogate-Key"), row.want)
		}
		if vary := got.header.Values("Vary"); len(vary) != 1 || !strings.Contains(vary[0], "Accept-Language") {
			t.Errorf("%s: Vary %q", row.why, vary)
		}
		if strings.Contains(got.body, `"remaining"`) || strings.Contains(got.body, "readUnits\":0.5,\"used") {
			t.Errorf("%s: the page tells what its first reader has left", row.why)
		}
	}
}

// origin passes requests on to the service, counts them, and can hold them back.
type origin struct {
	*httptest.Server
	gate sync.RWMutex // locked while it holds requests back

	mu   sync.Mutex
	seen []int // statuses
}

func newOrigin(t *testing.T, a *api) *origin {
	t.Helper()
	target := must.Get(url.Parse(a.server.URL))(t)
	o := &origin{}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host },
		ModifyResponse: func(r *http.Response) error {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.seen = append(o.seen, r.StatusCode)
			return nil
		},
	}
	o.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.gate.RLock()
		defer o.gate.RUnlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(o.Close)
	return o
}

// statuses returns the statuses of the answers so far.
func (o *origin) statuses() []int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.seen)
}

// nginx caches by the headers alone, as a CDN does. It keeps one answer for each kind that Vary
// names, and none that is private or answers a token.
func TestNginxKeepsWhatIsShared(t *testing.T) {
	t.Parallel()
	a, _, _ := sharing(t)
	a.serve.SharedCache = time.Hour
	a.useClient(a.session.Client)
	o := newOrigin(t, a)
	base := nginxtest.StartCache(t, o.Listener.Addr().String())
	page, html := asking(base, teapotPage), base+"/products/teapot"
	for i, row := range []struct {
		why, address, want string
		headers            []string
	}{
		{"first", page, "MISS", nil},
		{"again", page, "HIT", nil},
		{"another type", page, "MISS", []string{"Accept: application/graphql-response+json"}},
		{"again", page, "HIT", []string{"Accept: application/graphql-response+json"}},
		{"compressed", html, "MISS", []string{"Accept-Encoding: gzip"}},
		{"again", html, "HIT", []string{"Accept-Encoding: gzip"}},
		{"not compressed", html, "MISS", nil},
		{"in German", html, "MISS", []string{"Accept-Language: de"}},
		{"again", html, "HIT", []string{"Accept-Language: de"}},
		{"for a page of the shop", page, "MISS", []string{"Origin: https://shop.example"}},
		{"again", page, "HIT", []string{"Origin: https://shop.example"}},
		{"for another one", page, "MISS", []string{"Origin: https://other.example"}},
		{"a token", page, "BYPASS", []string{"Authorization: Bearer " + moderatorToken}},
		{"another one", page, "BYPASS", []string{"Authorization: Bearer " + tokenOf(t, "u1", time.Hour)}},
		{"none after a token", page, "HIT", nil},
		{"who asks", asking(base, `{viewer{isModerator}}`), "MISS", nil},
		{"who asks, again", asking(base, `{viewer{isModerator}}`), "MISS", nil},
		{"an error", asking(base, `{nothing}`), "MISS", nil},
		{"an error, again", asking(base, `{nothing}`), "MISS", nil},
	} {
		if got := fetch(t, "GET", row.address, row.headers...); got.header.Get("X-Cache") != row.want {
			t.Errorf("%d, %s: %s, want %s: %v", i, row.why, got.header.Get("X-Cache"), row.want, got.header)
		}
	}
	first := fetch(t, "GET", page)
	if got := fetch(t, "GET", page, "If-None-Match: "+first.header.Get("Etag")); got.status != http.StatusNotModified || got.header.Get("X-Cache") != "HIT" {
		t.Errorf("what the client has: %d %s", got.status, got.header.Get("X-Cache"))
	}
}

// The cache revalidates an expired answer with its ETag. Meanwhile everyone is served the old one,
// also while the server does not answer. Afterwards, a change is shown.
func TestNginxAsksAgain(t *testing.T) {
	t.Parallel()
	a, _, _ := sharing(t)
	o := newOrigin(t, a)
	page := asking(nginxtest.StartCache(t, o.Listener.Addr().String()), teapotPage)
	fetch(t, "GET", page)
	must.Wait(t, "an unchanged answer is confirmed", func() bool {
		fetch(t, "GET", page)
		return slices.Contains(o.statuses(), http.StatusNotModified)
	})
	must.Wait(t, "an answer is shown while another one is fetched", func() bool {
		fresh := fetch(t, "GET", page)
		o.gate.Lock()
		open := sync.OnceFunc(o.gate.Unlock)
		defer time.AfterFunc(10*time.Second, open).Stop() // the request came too late, and nginx waits for the server
		defer open()
		for {
			switch got := fetch(t, "GET", page); {
			case got.header.Get("X-Cache") == "STALE" || got.header.Get("X-Cache") == "UPDATING":
				return got.body == fresh.body
			case got.header.Get("X-Cache") != "HIT":
				return false
			}
		}
	})
	a.header = bearer(moderatorToken)
	added := a.add(draft()).Comment.ID
	must.Wait(t, "a change is shown", func() bool { return strings.Contains(fetch(t, "GET", page).body, added) })
}
