package httpapi_test

import (
	"strings"
	"testing"

	"github.com/talkback/talkback/httpapi"
)

const query = "query={echo}"

// Without configured origins, no answer has a CORS header and no preflight succeeds.
func TestCORSIsClosed(t *testing.T) {
	server := newServer(t, nil)
	for _, got := range []reply{
		preflight(t, server.URL, "https://shop.example", "content-type"),
		post(t, server, `{"query": "{ echo }"}`, "Origin: https://shop.example"),
		get(t, server, query, "Origin: https://shop.example"),
		get(t, server, query, "Origin: null"),
		get(t, server, query),
	} {
		for name := range got.header {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", name, got.header.Get(name))
			}
		}
	}
}

func preflight(t *testing.T, address, origin, headers string) reply {
	t.Helper()
	return send(t, "OPTIONS", address+"/graphql", "", "Origin: "+origin, "Sec-Fetch-Site: cross-site",
		"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: "+headers)
}

func TestCORSOpensToSome(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) {
		o.Origins = []httpapi.Origin{"https://shop.example", "https://*.shop.example", "http://localhost:*"}
		o.MaxBody = 100
	})
	for origin, allowed := range map[string]bool{
		"https://shop.example":         true,
		"https://www.shop.example":     true,
		"http://localhost:5173":        true,
		"http://shop.example":          false,
		"https://shop.example:444":     false,
		"https://shop.example.evil":    false,
		"https://evil-shop.example":    false,
		"https://elsewhere.example":    false,
		"null":                         false,
		"https://shop.example/graphql": false,
	} {
		want := ""
		if allowed {
			want = origin
		}
		for _, got := range []reply{
			preflight(t, server.URL, origin, "authorization,content-type,x-apollo-operation-name"),
			post(t, server, `{"query": "{ echo }"}`, "Origin: "+origin),
			post(t, server, strings.Repeat(" ", 101), "Origin: "+origin), // a refusal can be read too
		} {
			if header := got.header.Get("Access-Control-Allow-Origin"); header != want {
				t.Errorf("%s: Access-Control-Allow-Origin %q, want %q; %d %s", origin, header, want, got.status, got.body)
			}
			if vary := strings.Join(got.header.Values("Vary"), ", "); !strings.Contains(vary, "Origin") {
				t.Errorf("%s: Vary %q would confuse a cache", origin, vary)
			}
			if got.header.Get("Access-Control-Allow-Credentials") != "" {
				t.Errorf("%s: cookies are allowed", origin)
			}
		}
	}
	got := post(t, server, `{"query": "{ echo }"}`, "Origin: https://shop.example")
	if exposed := strings.ToLower(got.header.Get("Access-Control-Expose-Headers")); !strings.Contains(exposed, "x-request-id") {
		t.Errorf("a page can read the headers %q, want X-Request-Id among them", exposed)
	}
}

func TestCORSOpensToAll(t *testing.T) {
	server := newServer(t, func(o *httpapi.Options) { o.Origins = []httpapi.Origin{"*"} })
	got := get(t, server, query, "Origin: https://anyone.example", "Sec-Fetch-Site: cross-site")
	if got.status != 200 || got.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("%d, Access-Control-Allow-Origin %q, want 200 and a star", got.status, got.header.Get("Access-Control-Allow-Origin"))
	}
}

func TestOriginsAreChecked(t *testing.T) {
	for text, good := range map[string]bool{
		"https://shop.example": true, "https://*.shop.example": true, "http://localhost:*": true, "*": true, "capacitor://localhost": true,
		"": false, "shop.example": false, "https://shop.example/": false, "https://*": false, "https://*.com": false, "null": false, "HTTPS://shop.example": false,
	} {
		var origin httpapi.Origin
		err := origin.UnmarshalText([]byte(text))
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && !strings.Contains(err.Error(), "such as https://shop.example") {
			t.Errorf("%q: %v; want the cure", text, err)
		}
	}
}

// A request that a browser sends to another site without a preflight is refused. Clients other than
// browsers, and pages of this server, are served.
func TestCrossSite(t *testing.T) {
	closed := newServer(t, nil)
	open := newServer(t, func(o *httpapi.Options) { o.Origins = []httpapi.Origin{"https://shop.example"} })
	for _, test := range []struct {
		headers string
		status  int
		reason  string
	}{
		{"", 200, "curl, apps, other servers"},
		{"Sec-Fetch-Site: same-origin", 200, "the explorer"},
		{"Sec-Fetch-Site: none", 200, "typed into the address bar"},
		{"Origin: SELF", 200, "an older browser, or plain HTTP: a page of this server"},
		{"Sec-Fetch-Mode: cors", 200, "Node, which says how but not from where"},
		{"Sec-Fetch-Site: cross-site", 403, "a picture, a script, a link of another site"},
		{"Sec-Fetch-Site: same-site", 403, "another host of the same domain"},
		{"Sec-Fetch-Site: cross-site\nOrigin: https://elsewhere.example", 403, "a script of another site"},
		{"Sec-Fetch-Site: cross-site\nOrigin: null", 403, "a sandboxed frame"},
		{"Origin: https://elsewhere.example", 403, "a script of another site, over plain HTTP"},
		{"Origin: null", 403, "a sandboxed frame, over plain HTTP"},
	} {
		for _, server := range []string{closed.URL, open.URL} {
			headers := strings.Split(strings.ReplaceAll(test.headers, "SELF", server), "\n")
			got := send(t, "GET", server+"/graphql?"+query, "", headers...)
			if got.status != test.status || test.status == 403 && got.code(t) != "CSRF_REFUSED" {
				t.Errorf("%s: %d %s, want %d: %s", test.headers, got.status, got.body, test.status, test.reason)
			}
		}
	}
	for _, headers := range [][]string{{"Origin: https://shop.example"}, {"Origin: https://shop.example", "Sec-Fetch-Site: cross-site"}} {
		if got := get(t, open, query, headers...); got.status != 200 {
			t.Errorf("%s, which is allowed: %d %s", headers, got.status, got.body)
		}
		if got := get(t, closed, query, headers...); got.status != 403 {
			t.Errorf("%s, when no origin is allowed: %d %s", headers, got.status, got.body)
		}
	}
	for status, headers := range map[int]string{200: "Origin: https://renamed-by-a-proxy.example", 403: "Sec-Fetch-Site: cross-site"} {
		if got := post(t, closed, `{"query": "{ echo }"}`, headers); got.status != status {
			t.Errorf("POST with %s: %d, want %d", headers, got.status, status)
		}
	}
}
