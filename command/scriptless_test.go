package command_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest"
	"github.com/talkback/talkback/internal/dynamotest"
)

// inElement is an expression of what a CSS selector finds in the element of a product page.
func inElement(selector string) string {
	return fmt.Sprintf(`document.querySelector('talkback-comments').shadowRoot.querySelector(%q)`, selector)
}

// With scripts off, a reader sees the comments, and gets to others by links and forms: every filter
// and every page is an address.
func TestProductPageWithoutScripts(t *testing.T) {
	a, r, ctx := newAPI(t, dynamotest.Dynoxide(t)), commenttest.Rand(t), browsertest.Open(t)
	comments := crowd(r, "kettle", 300)
	a.load(comments...)
	a.pages = a.inTable(t, comments...)
	a.useClient(a.session.Client)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	// to takes the actions, and waits for the page that they lead to.
	to := func(address string, actions ...chromedp.Action) {
		t.Helper()
		response, err := chromedp.RunResponse(ctx, actions...)
		if err != nil || response.URL != a.server.URL+address || response.Status != http.StatusOK {
			t.Fatalf("got to %+v, %v; want %s", response, err, address)
		}
	}
	read := func(expression string, value any) {
		t.Helper()
		if err := chromedp.Run(ctx, chromedp.Evaluate(expression, value)); err != nil {
			t.Fatal(err)
		}
	}
	click := func(selector string) chromedp.Action {
		return chromedp.Evaluate(inElement(selector)+".click()", nil)
	}
	set := func(selector, value string) chromedp.Action {
		return chromedp.Evaluate(inElement(selector)+fmt.Sprintf(".value = %q", value), nil)
	}
	var stars, current string
	var shown int
	var scripts bool
	to("/products/kettle", emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(a.server.URL+"/products/kettle"))
	read(`!!customElements.get('talkback-comments')`, &scripts)
	read(inElement(".list")+".children.length", &shown)
	to("/products/kettle?rating=5", click(".histogram li:first-child a"))
	to("/products/kettle?rating=5&rating=1", click(".histogram li:last-child a"))
	read(`[...new Set([...`+inElement(".list")+`.querySelectorAll('.stars')].map((s) => s.ariaLabel))].sort().join()`, &stars)
	to("/products/kettle?page=2&rating=5&rating=1", click("a[rel=next]"))
	to("/products/kettle?rating=5&rating=1&order=oldest", click(".order li:last-child a"))
	to("/products/kettle?rating=5&rating=1&order=oldest&from=2020-01-01&to=", set(".dates [name=from]", "2020-01-01"), click(".dates .button"))
	to("/products/kettle", click(".clear"))
	to("/products/kettle?page=9", set(".jump [name=page]", "9"), click(".jump .button"))
	read(inElement("[aria-current=page]")+".textContent", &current)
	if scripts || shown != 20 || current != "9" || stars != "1 of 5 stars,5 of 5 stars" {
		t.Errorf("scripts run: %t; %d comments, page %s, %s", scripts, shown, current, stars)
	}
}
