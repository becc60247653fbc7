package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/talkback/talkback/httpapi"
	"github.com/talkback/talkback/quota"
)

// limitedServer allows a client a burst of four operations, then one every 50 seconds. An operation
// that reads nothing costs half a unit. The header X-Client names the client; "moderator" is not
// limited.
func limitedServer(t *testing.T, set func(*httpapi.Options)) *httptest.Server {
	t.Helper()
	return newServer(t, func(o *httpapi.Options) {
		o.Clients = &httpapi.ClientLimits{
			Client: func(r *http.Request) (quota.Client, bool) {
				return quota.Customer(r.Header.Get("X-Client")), r.Header.Get("X-Client") != "moderator"
			},
			Reads:  quota.NewLedger(quota.Policy{Name: "read-units", Rate: 0.01, Burst: 2}),
			Writes: quota.NewLedger(quota.Policy{Name: "writes", Rate: 1.0 / 60, Burst: 1}),
		}
		if set != nil {
			set(o)
		}
	})
}

const policies = `"read-units";q=2;w=200, "writes";q=1;w=60`

// Every request counts, and every answer shows the balance. Beyond it, the client is refused with
// the time to wait; others are not.
func TestClientsAreLimited(t *testing.T) {
	server := limitedServer(t, nil)
	first := get(t, server, query, "X-Client: ada")
	again := get(t, server, query, "X-Client: ada", "If-None-Match: "+first.header.Get("ETag"))
	if again.status != http.StatusNotModified {
		t.Errorf("what is left made another answer: %d", again.status)
	}
	for left, row := range []struct {
		why string
		got reply
	}{
		{"an operation that is refused took time too", post(t, server, `{"query": "{ nothing }"}`, "X-Client: ada")},
		{"and one that the client has already", again},
	} {
		if got := row.got.header.Get("RateLimit"); !strings.HasPrefix(got, `"read-units";r=`+strconv.Itoa(left)+`;t=`) || row.got.header.Get("RateLimit-Policy") != policies {
			t.Errorf("%s: %s, of %s", row.why, got, row.got.header.Get("RateLimit-Policy"))
		}
	}
	last := get(t, server, query, "X-Client: ada")
	if got := last.header.Get("RateLimit"); last.status != http.StatusOK || got != `"read-units";r=0;t=100` {
		t.Errorf("the last answer: %d with %s", last.status, got)
	}
	for _, accept := range []string{"application/json", "application/graphql-response+json"} {
		got := post(t, server, `{"query": "{ echo }"}`, "X-Client: ada", "Accept: "+accept)
		if got.status != http.StatusTooManyRequests || got.code(t) != "RATE_LIMITED" || got.header.Get("Retry-After") != "50" ||
			got.header.Get("RateLimit") != `"read-units";r=0;t=50` || !strings.Contains(got.body, "in 50 s") || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %s, %v", accept, got.status, got.body, got.header)
		}
	}
	if got := get(t, server, query, "X-Client: bob"); got.status != http.StatusOK {
		t.Errorf("another client: %d %s", got.status, got.body)
	}
}

// Without a limit, answers have no limit headers.
func TestWhatIsNotLimited(t *testing.T) {
	limited, unlimited := limitedServer(t, nil), newServer(t, nil)
	for range 6 {
		for why, got := range map[string]reply{
			"a server without limits": get(t, unlimited, query),
			"a moderator":             get(t, limited, query, "X-Client: moderator"),
			"health":                  send(t, "GET", limited.URL+"/healthz", "", "X-Client: ada"),
			"readiness":               send(t, "GET", limited.URL+"/readyz", "", "X-Client: ada"),
			"a body that is too large, which is refused before": post(t, limited, strings.Repeat(" ", httpapi.DefaultMaxBody+1), "X-Client: ada"),
		} {
			if got.status == http.StatusTooManyRequests || got.header.Get("RateLimit")+got.header.Get("RateLimit-Policy") != "" {
				t.Errorf("%s: %d %v", why, got.status, got.header)
			}
		}
	}
}

// Pages of allowed origins can read the balance, also of a refusal.
func TestPagesReadWhatIsLeft(t *testing.T) {
	server := limitedServer(t, func(o *httpapi.Options) { o.Origins = []httpapi.Origin{"https://shop.example"} })
	for range 5 {
		got := get(t, server, query, "Origin: https://shop.example")
		exposed := strings.ToLower(got.header.Get("Access-Control-Expose-Headers"))
		for _, name := range []string{"ratelimit", "ratelimit-policy", "retry-after"} {
			if !strings.Contains(","+exposed+",", ","+name+",") {
				t.Errorf("status %d: a page can read %s, not %s", got.status, exposed, name)
			}
		}
	}
	for range 10 {
		if got := preflight(t, server.URL, "https://shop.example", "content-type"); got.status >= 400 {
			t.Errorf("a preflight: %d", got.status)
		}
	}
}

// The server's HTML pages query the API on behalf of their reader.
func TestPagesCount(t *testing.T) {
	server := limitedServer(t, func(o *httpapi.Options) {
		o.Pages = func(api http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked := httptest.NewRequest(http.MethodGet, "/graphql?"+query, nil)
				asked.Header.Set("X-Client", r.Header.Get("X-Client"))
				api.ServeHTTP(w, asked)
			})
		}
	})
	statuses := ""
	for range 5 {
		statuses += strconv.Itoa(send(t, "GET", server.URL+"/products/1", "", "X-Client: ada").status) + " "
	}
	if statuses != "200 200 200 200 429 " {
		t.Errorf("pages were answered by %s", statuses)
	}
}
