package web

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"html"
	"image/color"
	"image/png"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// The commands of the home page name the server by the address of the request. An invalid Host
// appears nowhere on it.
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
		for range 2 { // the second is served from the cache
			page := askHome(t, func(r *http.Request) {
				r.Host = test.host
				r.Header.Set("X-Forwarded-Proto", test.proxy)
			})
			if !strings.Contains(page, "curl --get '"+test.want+"/graphql' ") || test.host != "" && !strings.Contains(test.want, test.host) && strings.Contains(page, test.host) {
				t.Errorf("asked by %q: want %s, since it is %s:\n%s", test.host, test.want, test.reason, page)
			}
		}
	}
	if page := askHome(t, func(r *http.Request) { r.TLS = &tls.ConnectionState{} }); !strings.Contains(page, "'https://example.com/graphql'") {
		t.Errorf("over TLS:\n%s", page)
	}
}

// askHome returns the page for a request that is changed first.
func askHome(t *testing.T, change func(*http.Request)) string {
	t.Helper()
	ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9), Port: 8080})
	r := httptest.NewRequestWithContext(ctx, "GET", "/", nil)
	change(r)
	w := httptest.NewRecorder()
	Options{}.Handler(noAPI).ServeHTTP(w, r)
	if vary := strings.Join(w.Result().Header.Values("Vary"), ", "); w.Code != 200 || !strings.Contains(vary, "X-Forwarded-Proto") {
		t.Errorf("%d, Vary %q", w.Code, vary)
	}
	return html.UnescapeString(w.Body.String())
}

// The home page leads to each guide by its heading. Each is a page whose links lead to what the
// server has.
func TestGuidesAreServed(t *testing.T) {
	front := html.UnescapeString(body(t, "/"))
	address, id := regexp.MustCompile(`<a href="([^"]*)"`), regexp.MustCompile(` id="([^"]*)"`)
	if len(guideNames()) < 10 {
		t.Fatalf("the guides are %q", guideNames())
	}
	for _, name := range guideNames() {
		heading, _, _ := strings.Cut(string(guideOf(name)), "\n")
		heading, path := strings.TrimPrefix(heading, "# "), guides+name
		page := html.UnescapeString(body(t, path))
		if !strings.Contains(front, `<a href="`+path+`">`+heading+"</a>") || !strings.Contains(page, heading+"</h1>") || strings.Contains(page, "](") {
			t.Errorf("%s is not on the home page, or not a page", name)
		}
		for _, found := range address.FindAllStringSubmatch(page, -1) {
			to, fragment, _ := strings.Cut(found[1], "#")
			if to == "" {
				to = path
			}
			if strings.HasPrefix(to, "https://") || strings.HasPrefix(to, "http://127.0.0.1:8080") || strings.HasPrefix(to, "/products/") {
				continue
			}
			target := body(t, to)
			if ids := id.FindAllStringSubmatch(target, -1); fragment != "" && !slices.ContainsFunc(ids, func(id []string) bool { return id[1] == fragment }) {
				t.Errorf("%s leads to %s, where nothing has this id", name, found[1])
			}
		}
	}
}

// The icon for browsers that know no SVG is the picture of icon.svg, in each size that they show.
// It was made by Chromium, one screenshot of icon.svg for each size, on nothing:
//
//	chromium --headless --default-background-color=00000000 --window-size=32,32 --screenshot=32.png icon.html
func TestFavicon(t *testing.T) {
	file := []byte(body(t, "/favicon.ico"))
	count := int(binary.LittleEndian.Uint16(file[4:]))
	var sizes []int
	for i := range count {
		entry := file[6+16*i:] // width, height, colours, 0, planes, bits, length, offset
		length, offset := binary.LittleEndian.Uint32(entry[8:]), binary.LittleEndian.Uint32(entry[12:])
		picture := must.Get(png.Decode(bytes.NewReader(file[offset : offset+length])))(t)
		size := picture.Bounds().Dx()
		sizes = append(sizes, size)
		if int(entry[0]) != size || int(entry[1]) != picture.Bounds().Dy() {
			t.Errorf("a picture of %v is announced as %d by %d", picture.Bounds(), entry[0], entry[1])
		}
		star := color.NRGBAModel.Convert(picture.At(size/2, size*2/5)).(color.NRGBA)
		ground := color.NRGBAModel.Convert(picture.At(size/6, size/2)).(color.NRGBA)
		if star != (color.NRGBA{255, 255, 255, 255}) || ground != (color.NRGBA{0xd4, 0x55, 0x1f, 255}) {
			t.Errorf("%d pixels: a star of %v on %v, want white on the orange of icon.svg", size, star, ground)
		}
	}
	if !slices.Equal(sizes, []int{16, 32, 48}) || len(file) > 4<<10 {
		t.Errorf("sizes %v in %d bytes", sizes, len(file))
	}
}
