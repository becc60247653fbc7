package web

import (
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The API gets the client address of a page's request, which decides who may write, and nothing
// else. It gets no token, and no header that affects the answer.
func TestAskTellsWhereThePageWasAskedFrom(t *testing.T) {
	page := httptest.NewRequest("GET", "http://shop.example/products/42", nil)
	page.RemoteAddr, page.TLS = "203.0.113.7:4711", &tls.ConnectionState{}
	page.Proto, page.ProtoMajor, page.ProtoMinor = "HTTP/1.0", 1, 0
	origin := http.Header{"Forwarded": {"for=1"}, "Via": {"1.1 a", "1.1 b"}, "X-Real-Ip": {"::1"}, "X-Forwarded-Anything": {""}}
	for name, values := range origin {
		page.Header[name] = values
	}
	for _, name := range []string{
		"Authorization", "Cookie", "Origin", "Sec-Fetch-Site", "Accept-Encoding", "If-None-Match", "Content-Encoding", "Content-Type", "Accept",
	} {
		page.Header.Set(name, "of the page")
	}
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != page.Host || r.RemoteAddr != page.RemoteAddr || r.TLS != page.TLS || r.Proto != "HTTP/1.0" || r.ProtoAtLeast(1, 1) {
			t.Errorf("asked by %s from %s, %s", r.Host, r.RemoteAddr, r.Proto)
		}
		want := origin.Clone()
		want["Content-Type"], want["Accept"] = []string{"application/json"}, []string{"application/graphql-response+json"}
		if diff := cmp.Diff(want, r.Header); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
		body, _ := io.ReadAll(r.Body)
		if string(body) != `{"query":"{a}","variables":{"id":"42"}}` || int(r.ContentLength) != len(body) || r.Method != "POST" || r.URL.Path != "/graphql" {
			t.Errorf("%s %s %s", r.Method, r.URL, body)
		}
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "later")
	})
	reply := askAPI(t.Context(), api, page, "{a}", map[string]string{"id": "42"})
	if reply.Status != http.StatusServiceUnavailable || string(reply.Body) != "later" || retryAfter(reply) != "7" {
		t.Errorf("the answer is %+v", reply)
	}
}

// Requests for pages that are the same for everyone have no address, so no client's limits apply.
func TestAskForAllNamesNoClient(t *testing.T) {
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.RemoteAddr != "" || len(r.Header) != 2 || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("asked from %q with %v", r.RemoteAddr, r.Header)
		}
		_, _ = io.Copy(w, r.Body)
	})
	if reply := askForAll(t.Context(), api, "{a}", nil); string(reply.Body) != `{"query":"{a}","variables":null}` {
		t.Errorf("it asked %s", reply.Body)
	}
}
