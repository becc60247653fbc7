package httpapi_test

import (
	"strings"
	"testing"
)

const long = "query={long}"

// Each type and each coding of an answer has its own tag. A client that has the answer does not get
// it again.
func TestETags(t *testing.T) {
	server := newServer(t, nil)
	seen := map[string]string{}
	for _, headers := range [][]string{
		{"Accept: application/json"}, {"Accept: application/graphql-response+json"},
		{"Accept: application/json", "Accept-Encoding: gzip"}, {"Accept: application/graphql-response+json", "Accept-Encoding: gzip"},
	} {
		what := strings.Join(headers, ", ")
		first := get(t, server, long, headers...)
		tag := first.header.Get("ETag")
		if first.status != 200 || !strings.HasPrefix(tag, `"`) || seen[tag] != "" {
			t.Fatalf("%s: %d with ETag %s, want a strong one; it is also that of %q", what, first.status, tag, seen[tag])
		}
		seen[tag] = what
		for name, want := range map[string]int{tag: 304, `"other", ` + tag: 304, "*": 304, `"other"`: 200} {
			again := get(t, server, long, append(headers, "If-None-Match: "+name)...)
			if again.status != want || again.header.Get("ETag") != tag {
				t.Errorf("%s, If-None-Match %s: %d with ETag %s, want %d", what, name, again.status, again.header.Get("ETag"), want)
			}
			if again.header.Get("Cache-Control") != "private, no-cache" || strings.Join(again.header.Values("Vary"), ", ") != "Accept, Authorization, Accept-Encoding" {
				t.Errorf("%s: Cache-Control %q, Vary %q", what, again.header.Get("Cache-Control"), again.header.Values("Vary"))
			}
			if again.status == 304 && (len(again.raw) > 0 || again.header.Get("Content-Encoding") != "") {
				t.Errorf("%s: 304 with %d bytes of %q", what, len(again.raw), again.header.Get("Content-Encoding"))
			}
		}
	}
	ranges := "bytes=" + strings.Repeat("0-,", 5000) + "0-"
	if got := get(t, server, long, "Range: "+ranges); got.status != 200 || len(got.raw) > 10_000 || got.header.Get("Accept-Ranges") != "" {
		t.Errorf("with ranges: %d with %d bytes, want the answer once: an answer that is made for each request has no parts to fetch later", got.status, len(got.raw))
	}
	if one, other := get(t, server, "query=query+A{echo}"), get(t, server, "query=query+B{echo}"); one.header.Get("ETag") == other.header.Get("ETag") {
		t.Error("two answers have the same ETag")
	}
}

// Only a successful answer to a GET may be cached.
func TestNothingElseIsCached(t *testing.T) {
	server := newServer(t, nil)
	for reason, got := range map[string]reply{
		"an error beside the data":     get(t, server, "query={fails}", "If-None-Match: *"),
		"an operation that is refused": get(t, server, "query={nothing}", "If-None-Match: *"),
		"a request that is refused":    get(t, server, "query=mutation{change}", "If-None-Match: *"),
		"a page of another site":       get(t, server, long, "Sec-Fetch-Site: cross-site"),
		"a POST":                       post(t, server, `{"query": "{ long }"}`, "If-None-Match: *"),
		"a POST of the wrong type":     post(t, server, `{"query": "{ long }"}`, "Content-Type: text/plain"),
		"an unknown method":            send(t, "DELETE", server.URL+"/graphql", ""),
		"an OPTIONS request":           send(t, "OPTIONS", server.URL+"/graphql", ""),
	} {
		if got.status == 304 || got.header.Get("ETag") != "" || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, ETag %q, Cache-Control %q", reason, got.status, got.header.Get("ETag"), got.header.Get("Cache-Control"))
		}
	}
}

func TestCompression(t *testing.T) {
	server := newServer(t, nil)
	for _, test := range []struct{ field, accept, want, reason string }{
		{"long", "gzip, deflate, br, zstd", "gzip", "a browser"},
		{"long", "br;q=1.0, gzip;q=0.5", "gzip", "rather not, but it can"},
		{"long", "gzip;q=0", "", "refused"},
		{"long", "identity", "", "as it is"},
		{"long", "br", "", "only codings that do not exist here"},
		{"echo", "gzip", "", "one packet either way"},
	} {
		for _, got := range []reply{
			get(t, server, "query={"+test.field+"}", "Accept-Encoding: "+test.accept),
			post(t, server, `{"query": "{ `+test.field+` }"}`, "Accept-Encoding: "+test.accept),
		} {
			if coding := got.header.Get("Content-Encoding"); got.status != 200 || coding != test.want {
				t.Errorf("Accept-Encoding %q: Content-Encoding %q, want %q: %s", test.accept, coding, test.want, test.reason)
			}
			if !strings.HasPrefix(got.body, `{"data":{"`+test.field) || !strings.HasSuffix(got.body, `"}}`) {
				t.Errorf("Accept-Encoding %q: %s", test.accept, got.body)
			}
			if test.want != "" && len(got.raw) > len(got.body)/10 {
				t.Errorf("Accept-Encoding %q: %d bytes of %d", test.accept, len(got.raw), len(got.body))
			}
		}
	}
}
