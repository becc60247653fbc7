package command_test

import (
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/dynamo"
	"github.com/talkback/talkback/dynamo/counts"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/commenttest/must"
	cdn "github.com/talkback/talkback/internal/edge"
	"github.com/talkback/talkback/internal/faulttest"
)

// A cache that sends an answer's ETag gets a 304 without a read, as long as the stream proves the
// answer unchanged. That holds only for the exact request of the answer.
func TestETagBeforeAnyRead(t *testing.T) {
	t.Parallel()
	a, _, _ := sharing(t)
	var reads, lag atomic.Int64
	var away atomic.Bool
	since := time.Now().Add(-time.Hour)
	a.serve.Following = func() (time.Time, time.Time, bool) {
		return since, time.Now().Add(-time.Duration(lag.Load())), !away.Load()
	}
	client, _ := faulttest.Under(a.session.Client, func(int) (none faulttest.Fault) {
		reads.Add(1)
		return none
	})
	a.useClient(client)
	page := asking(a.server.URL, teapotPage)
	first := fetch(t, "GET", page)
	has := "If-None-Match: " + first.header.Get("Etag")
	const free, read, refused = "confirmed without a read", "read", "refused"
	// outcome returns what became of a request.
	outcome := func(method, address string, headers ...string) string {
		before := reads.Load()
		got := fetch(t, method, address, headers...)
		switch calls := reads.Load() - before; {
		case calls > 0:
			return read
		case got.status != http.StatusNotModified:
			return refused
		}
		if strings.Contains(address, page) {
			for _, name := range []string{"Cache-Control", "Surrogate-Key", "Cache-Tag", "Vary", "Etag", "X-Content-Type-Options"} {
				if got.header.Get(name) != first.header.Get(name) {
					t.Errorf("%s of the 304 is %q, want %q", name, got.header.Get(name), first.header.Get(name))
				}
			}
		}
		return free
	}
	for _, row := range []struct {
		why, method, address string
		headers              []string
		want                 string
	}{
		{"the same request", "GET", page, []string{has}, free},
		{"its head", "HEAD", page, []string{has}, free},
		{"a weak tag among others", "GET", page, []string{`If-None-Match: "x", W/` + first.header.Get("Etag") + `, "y"`}, free},
		{"from a page of the shop", "GET", page, []string{has, "Origin: https://shop.example"}, free},
		{"with a cookie, which is not read", "GET", page, []string{has, "Cookie: session=1"}, free},
		{"written differently", "GET", a.server.URL + "/graphql?operationName=&" + page[strings.Index(page, "query="):], []string{has}, free},
		{"whatever there is", "GET", page, []string{"If-None-Match: *"}, read},
		{"another tag", "GET", page, []string{`If-None-Match: "x"`}, read},
		{"no tag", "GET", page, nil, read},
		{"another product", "GET", strings.Replace(page, "teapot", "kettle", 1), []string{has}, read},
		{"another type", "GET", page, []string{has, "Accept: application/graphql-response+json"}, read},
		{"another coding", "GET", page, []string{has, "Accept-Encoding: gzip"}, read},
		{"events", "GET", page, []string{has, "Accept: text/event-stream"}, read},
		{"a moderator", "GET", page, []string{has, "Authorization: Bearer " + moderatorToken}, read},
		{"an empty token", "GET", page, []string{has, "Authorization:"}, read},
		{"a page of another site", "GET", page, []string{has, "Sec-Fetch-Site: cross-site"}, refused},
		{"a POST", "POST", page, []string{has}, refused},
	} {
		if got := outcome(row.method, row.address, row.headers...); got != row.want {
			t.Errorf("%s: %s, want %s", row.why, got, row.want)
		}
	}
	for _, query := range []string{`{product(id:"teapot"){stats{total asOf}}}`, `{product(id:"teapot"){comments{plan{age}}}}`, `{product(id:"teapot"){id} leaderboard{product{id}}}`} {
		shown := fetch(t, "GET", asking(a.server.URL, query))
		if got := outcome("GET", asking(a.server.URL, query), "If-None-Match: "+shown.header.Get("Etag")); got != read {
			t.Errorf("%s: %s", query, got)
		}
	}

	for why, change := range map[string]func(now bool){
		"the stream is late":            func(now bool) { lag.Store(map[bool]int64{true: int64(time.Minute)}[now]) },
		"another process reads a shard": func(now bool) { away.Store(now) },
	} {
		for _, now := range []bool{true, false} {
			change(now)
			if got := outcome("GET", page, has); got != map[bool]string{true: read, false: free}[now] {
				t.Errorf("%s is %t: %s", why, now, got)
			}
		}
	}
	a.store.Changed(counts.Change{Product: "kettle"})
	if got := outcome("GET", page, has); got != free {
		t.Errorf("another product changed: %s", got)
	}
	a.header = bearer(moderatorToken)
	a.add(draft())
	if got := outcome("GET", page, has); got != read {
		t.Errorf("the product changed: %s", got)
	}
	if got := fetch(t, "GET", page, has); got.status != http.StatusOK || got.header.Get("Surrogate-Key") != cdn.Tag("teapot") {
		t.Errorf("the product changed: %d, %q", got.status, got.header.Get("Surrogate-Key"))
	}
}

// A server that caches first pages shows one again without reading it. Once the stream has
// delivered them, it shows writes of others, however long it may cache.
func TestPagesAreKeptUntilTheyChange(t *testing.T) {
	t.Parallel()
	a, _ := uncounted(t)
	s := serveTable(t, a, "--page-age", "24h")
	a.drained(time.Now())
	const asked = `{ product(id: "globe") { comments(first: 1) { nodes { id } plan { age readUnits } } } }`
	kept := regexp.MustCompile(`"age":[0-9.]*[1-9]`)
	must.Wait(t, "a page is kept", func() bool { return kept.MatchString(s.ask(asked)) })

	c := commenttest.Random(commenttest.Rand(t), "globe")
	c.ID = comment.IDOf(comment.PositionAt(time.Now(), [10]byte{}))
	must.Get(dynamo.NewStore(a.session.Client, a.session.Table, dynamo.Options{}).Add(t.Context(), c, ""))(t)
	must.Wait(t, "the page has what another process wrote", func() bool { return strings.Contains(s.ask(asked), string(c.ID)) })
	s.stop()
}
