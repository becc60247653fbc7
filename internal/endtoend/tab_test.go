package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// tab is a tab of the browser with empty storage and cache, and a record of what it did.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	loads      map[network.RequestID]*load
	order      []network.RequestID
	complaints []string // errors, warnings and violations of the policy
}

// load is a request that the tab sent.
type load struct {
	url    string
	kind   network.ResourceType
	asks   bool    // whether it went to the API
	bytes  float64 // transferred, headers included
	loaded bool
}

// newTab opens a tab.
func newTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx := browsertest.NewVisitor(t, browser)
	b := &tab{t: t, ctx: ctx, loads: map[network.RequestID]*load{}}
	chromedp.ListenTarget(ctx, b.see)
	return b
}

func (b *tab) see(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch event := event.(type) {
	case *network.EventRequestWillBeSent:
		address, _ := url.Parse(event.Request.URL)
		asks := address != nil && address.Path == "/graphql" && event.Request.Method == "POST"
		b.loads[event.RequestID] = &load{url: event.Request.URL, kind: event.Type, asks: asks}
		b.order = append(b.order, event.RequestID)
	case *network.EventLoadingFinished:
		if known := b.loads[event.RequestID]; known != nil {
			known.bytes, known.loaded = event.EncodedDataLength, true
		}
	}
	if complaint := browsertest.Complaint(event); complaint != "" {
		b.complaints = append(b.complaints, complaint)
	}
}

// do takes actions, and ends the test if one fails.
func (b *tab) do(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatalf("%v\nthe browser: %q", err, b.said())
	}
}

// onEachPage runs a script before those of each later page.
func (b *tab) onEachPage(script string) {
	b.t.Helper()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// said returns the browser's complaints since the last call.
func (b *tab) said() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.complaints
	b.complaints = nil
	return all
}

// asked returns how many requests to the API the tab has sent, and the id of the last one.
func (b *tab) asked() (count int, last network.RequestID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		if b.loads[id].asks {
			count, last = count+1, id
		}
	}
	return count, last
}

// lastAnswer reads the API's answer to the last request of the tab.
func (b *tab) lastAnswer(data any) {
	b.t.Helper()
	_, last := b.asked()
	b.do(chromedp.ActionFunc(func(ctx context.Context) error {
		body, err := network.GetResponseBody(last).Do(ctx)
		if err != nil {
			return err
		}
		return json.Unmarshal(body, data)
	}))
}

// root is the shadow root of the page's first element.
const root = `document.querySelector('talkback-comments').shadowRoot`

// idle is true once an answer, or its replacement, is drawn.
const idle = root + `?.querySelector('.root[aria-busy=false] :is(.list:not(.skeleton), .empty, .error)') != null`

// ids are the comments of the list.
const ids = `[...` + root + `.querySelectorAll('.list article')].map(({ id }) => id)`

// eval evaluates an expression of JavaScript.
func eval[T any](b *tab, expression string) (value T) {
	b.t.Helper()
	b.do(chromedp.Evaluate(expression, &value))
	return value
}

// until waits until an expression of JavaScript is true. If it stays false, the test ends with the
// text of the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, browsertest.Until("("+expression+")", nil)); err != nil {
		shown := eval[string](b, `location.href + '\n' + (document.querySelector('talkback-comments')?.shadowRoot.querySelector('.root')?.innerText ?? document.body.innerText)`)
		b.t.Fatalf("%s: %v\nthe browser: %q\nthe page: %s", expression, err, b.said(), shown)
	}
}

// shows waits until the part of the element that a selector finds has a text.
func (b *tab) shows(selector, want string) {
	b.t.Helper()
	b.until(fmt.Sprintf("%s.querySelector(%q)?.textContent === %q", root, selector, want))
}

// address returns the path and the query of the page.
func (b *tab) address() string {
	b.t.Helper()
	return eval[string](b, "location.pathname + location.search")
}

// mouse clicks on the part of the element that a selector finds.
func (b *tab) mouse(selector string) {
	b.t.Helper()
	b.do(browsertest.ClickElement(fmt.Sprintf("%s.querySelector(%q)", root, selector)))
}

// tabTo presses Tab until the focused element matches a selector.
func (b *tab) tabTo(selector string) {
	b.t.Helper()
	const most = 120 // more than the controls of a page
	for range most {
		if eval[bool](b, fmt.Sprintf("%s.activeElement?.matches(%q) ?? false", root, selector)) {
			return
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.t.Fatalf("%d presses of Tab do not lead to %s", most, selector)
}

// press presses keys.
func (b *tab) press(keys string) {
	b.t.Helper()
	b.do(chromedp.KeyEvent(keys))
}

// quiet fails the test if the browser complained.
func (b *tab) quiet() {
	b.t.Helper()
	for _, complaint := range b.said() {
		b.t.Errorf("the browser: %s", complaint)
	}
}

// list waits until the page has the expected address and shows exactly the expected comments.
func (b *tab) list(address string, want []string) {
	b.t.Helper()
	wanted := must.Get(json.Marshal(slices.Clip(append([]string{}, want...))))(b.t)
	b.until(fmt.Sprintf("location.pathname + location.search === %q && %s && JSON.stringify(%s) === %q",
		address, idle, ids, strings.TrimSpace(string(wanted))))
}
