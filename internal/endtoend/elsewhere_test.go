package endtoend

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp"
)

// shopPage is a plain page of a shop on another origin. It has one or two elements, its own style
// sheet, and a Content-Security-Policy as narrow as the element allows.
func (s *site) shopPage(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/shop.css":
		w.Header().Set("Content-Type", "text/css")
		_, _ = fmt.Fprint(w, `
			#first { --talkback-accent: rgb(1, 2, 250); }
			#first::part(bar) { outline: 3px solid rgb(4, 5, 6); }
			.chip, .bar { display: none } /* not the element's */`)
	case "/", "/two":
		second := ""
		if r.URL.Path == "/two" {
			second = fmt.Sprintf(`<h2>Another</h2><talkback-comments id="second" product="%s" lang="en"></talkback-comments>`, single)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; img-src data:; style-src 'self'; script-src %[1]s; connect-src %[1]s", s.address))
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="de"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A shop</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/shop.css"><script src="%s/talkback.js" defer></script></head>
<body><main><h1>A mug</h1><h2>What others say</h2><talkback-comments id="first" product="%s" page-size="5" explain></talkback-comments>
%s</main></body></html>`, s.address, many, second)
	default:
		http.NotFound(w, r)
	}
}

// The element inside a plain page of another origin: it calls the API across origins, changes
// nothing outside itself, and follows the shop's styles.
func elsewhere(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.do(chromedp.Navigate(s.shop.URL + "/two"))
	b.until(idle)
	b.until(`document.querySelector('#second').shadowRoot.querySelector('.result')?.textContent === '1 comment'`)
	b.until(root + `.querySelector('.result').textContent.endsWith(' Kommentare')`) // the language of the page
	for expression, want := range map[string]string{
		`getComputedStyle(` + root + `.querySelector('.bar')).outlineColor`:                                    "rgb(4, 5, 6)",
		`getComputedStyle(` + root + `.querySelector('.bar')).display`:                                         "grid",
		`getComputedStyle(document.querySelector('#second').shadowRoot.querySelector('.bar')).outlineStyle`:    "none",
		`getComputedStyle(` + root + `.querySelector('.root')).getPropertyValue('--talkback-accent').trim()`:   "rgb(1, 2, 250)",
		`String(` + root + `.querySelectorAll('.list article').length)`:                                        "5",
		`String(document.querySelector('#first').shadowRoot === document.querySelector('#second').shadowRoot)`: "false",
	} {
		if got := eval[string](b, expression); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
	if count, _ := b.asked(); count != 2 {
		t.Errorf("%d requests to the API, want one for each element", count)
	}
	b.mouse(".bar[href$='rating=5']")
	b.until(root + `.querySelector('.bar[aria-current]') !== null && ` + idle)
	if count, _ := b.asked(); count != 3 {
		t.Errorf("%d requests to the API after one click, want 3", count)
	}
	if got := b.address(); got != "/two" {
		t.Errorf("the address of the shop's page became %s", got)
	}
	b.until(`document.querySelector('#second').shadowRoot.querySelector('.bar[aria-current]') === null`)
	b.quiet()
}
