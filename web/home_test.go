package web

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The commands of the home page name the server by the address that it was asked by; a Host that is
// no host is nowhere in it.
func TestCommandsNameTheServer(t *testing.T) {
	for _, test := range []struct{ host, proxy, want, reason string }{
		{"localhost:8081", "", "http://localhost:8081", "another port"},
		{"shop.example", "", "http://shop.example", "a name"},
		{"my_talkback:8080", "", "http://my_talkback:8080", "a service of Docker Compose"},
		{"[::1]:8080", "", "http://[::1]:8080", "IPv6"},
		{"shop.example", "https", "https://shop.example", "behind a proxy that ends TLS"},
		{"shop.example", "gopher", "http://shop.example", "no scheme of ours"},
		{"", "", "http://127.0.0.9:8080", "HTTP/1.0"},
		{"a'; rm -rf ~; '", "", "http://127.0.0.9:8080", "a way out of the command's quotes"},
		{"<script>", "", "http://127.0.0.9:8080", "a way out of the page's text"},
		{"x$(id)", "", "http://127.0.0.9:8080", "a command"},
		{"user@shop.example", "", "http://127.0.0.9:8080", "another host behind a name"},
		{"-oProxy", "", "http://127.0.0.9:8080", "an option"},
		{"shop.example:99999", "", "http://127.0.0.9:8080", "no port"},
		{"[::zz]", "", "http://127.0.0.9:8080", "no address"},
		{"shop.example/x", "", "http://127.0.0.9:8080", "a path"},
		{strings.Repeat("a", 300), "", "http://127.0.0.9:8080", "longer than any name"},
	} {
		for range 2 { // the second is from what was made before
			page := homePage(t, func(r *http.Request) {
				r.Host = test.host
				r.Header.Set("X-Forwarded-Proto", test.proxy)
			})
			if !strings.Contains(page, "curl --get '"+test.want+"/graphql' ") || test.host != "" && !strings.Contains(test.want, test.host) && strings.Contains(page, test.host) {
				t.Errorf("asked by %q: want %s, since it is %s:\n%s", test.host, test.want, test.reason, page)
			}
		}
	}
	if page := homePage(t, func(r *http.Request) { r.TLS = &tls.ConnectionState{} }); !strings.Contains(page, "'https://example.com/graphql'") {
		t.Errorf("over TLS:\n%s", page)
	}
}

// homePage is the page for a request that is changed first.
func homePage(t *testing.T, change func(*http.Request)) string {
	t.Helper()
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9), Port: 8080})
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	change(r)
	w := httptest.NewRecorder()
	Handler(noAPI).ServeHTTP(w, r)
	if vary := strings.Join(w.Result().Header.Values("Vary"), ", "); w.Code != 200 || !strings.Contains(vary, "X-Forwarded-Proto") {
		t.Errorf("%d, Vary %q", w.Code, vary)
	}
	return w.Body.String()
}
