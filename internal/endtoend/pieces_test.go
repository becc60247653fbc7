package endtoend

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/commenttest/must"
)

// Nothing moves while a page comes in pieces, each of which is drawn before the next one is sent.
// A slow line and a busy browser cut a page anywhere, but rarely twice at the same place.
func inPieces(t *testing.T, browser context.Context, s *site) {
	for _, row := range []struct {
		why   string
		path  string
		width int64
	}{
		{"parts below each other", states()["filtered"], 320},
		{"parts beside each other, dates in a line", states()["filtered"], 800},
		{"filters at the side, praise and complaint", states()["product"], 1280},
		{"the foot of the page within the window", states()["no comments"], 320},
		{"links and buttons that wrap", "/", 320},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel() // most of it is waiting for frames
			b := newTab(t, browser)
			b.onEachPage(shifts)
			text := get(t, s.address+row.path)
			sent, drawn := make(chan int), make(chan struct{})
			address := s.openPieces(t, pieces(text), sent, drawn)
			b.do(chromedp.EmulateViewport(row.width, 800), chromedp.ActionFunc(func(ctx context.Context) error {
				_, _, _, _, err := page.Navigate(address + row.path).Do(ctx)
				return err
			}))
			for elements := range sent {
				b.until(fmt.Sprintf(drawnWith, elements))
				drawn <- struct{}{}
			}
			b.until(`document.readyState === 'complete'`)
			b.until(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
			if moved := eval[[]string](b, "shifted"); len(moved) > 0 {
				t.Errorf("%s, %d pixels wide: what moves: %q", row.path, row.width, moved)
			}
		})
	}
}

// drawnWith waits for a frame with the given number of elements, including those within the element
// for comments.
const drawnWith = `new Promise((drawn) => {
	const all = () => document.querySelectorAll('*').length +
		(document.querySelector('talkback-comments')?.shadowRoot?.querySelectorAll('*').length ?? 0);
	const look = () => requestAnimationFrame(() => all() >= %d ? setTimeout(drawn, 0, true) : look());
	look();
})`

// openPieces serves the site with one page in pieces. It sends one, reports how many elements have
// been sent, and waits until they are drawn. In the end it closes its channel.
func (s *site) openPieces(t *testing.T, pieces [][]byte, sent chan<- int, drawn <-chan struct{}) (address string) {
	t.Helper()
	program := must.Get(url.Parse(s.address))(t)
	rest := httputil.NewSingleHostReverseProxy(program)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			rest.ServeHTTP(w, r)
			return
		}
		defer close(sent)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		elements := 0
		for _, piece := range pieces {
			_, _ = w.Write(piece)
			_ = http.NewResponseController(w).Flush()
			elements += len(startTag.FindAll(piece, -1)) - bytes.Count(piece, []byte("<template"))
			select {
			case sent <- elements:
				<-drawn
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

var startTag = regexp.MustCompile(`<[a-z]`)

// pieces cuts a page after each of its tags. The middle of a long page stays whole, where lists
// only grow downwards. So does its head, since nothing is drawn before the body begins.
func pieces(text []byte) (all [][]byte) {
	const first, last = 250, 70 // tags of the body
	body := bytes.Index(text, []byte("<body"))
	ends := regexp.MustCompile(`>`).FindAllIndex(text[body:], -1)
	from := 0
	for i, end := range ends {
		if i < first || i >= len(ends)-last {
			all, from = append(all, text[from:body+end[1]]), body+end[1]
		}
	}
	return append(all, text[from:])
}
