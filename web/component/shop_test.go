package component

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
	"github.com/talkback/talkback/web"
)

// shop is a page that embeds the element, on the host of the service, which has the pages of the
// program too, or on another one.
type shop struct {
	*service
	address   string
	elsewhere string // the address of the same pages on another origin
}

// strict is the narrowest Content-Security-Policy that the element needs: its script and its
// service.
const strict = "default-src 'none'; img-src data:; script-src %[1]s; connect-src %[1]s"

func openShop(t *testing.T) shop {
	t.Helper()
	s := shop{service: newService(t)}
	mux := http.NewServeMux()
	mux.Handle("/graphql", s.service)
	mux.Handle("/", web.Options{Plans: true}.Handler(s.forServer()))
	mux.HandleFunc("GET /shop/{product...}", func(w http.ResponseWriter, r *http.Request) { s.page(w, r, "") })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.page(w, r, server.URL) }))
	t.Cleanup(other.Close)
	s.address, s.elsewhere = server.URL, other.URL
	return s
}

// page is a page of the shop. Its query sets the attributes of the element and the base of links,
// or turns scripts off.
func (s shop) page(w http.ResponseWriter, r *http.Request, service string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	source := service
	if source == "" {
		source = "'self'"
	}
	w.Header().Set("Content-Security-Policy", fmt.Sprintf(strict, source))
	attributes := ""
	for name, values := range r.URL.Query() {
		if name, ours := strings.CutPrefix(name, "a-"); ours {
			attributes += fmt.Sprintf(" %s=%q", name, values[0])
		}
	}
	id := r.PathValue("product")
	if id == "" {
		id = r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	}
	load := fmt.Sprintf(`<script src="%s/talkback.js" defer></script>`, service)
	if base := r.URL.Query().Get("base"); base != "" {
		load = fmt.Sprintf("<base href=%q>", base) + load
	}
	if id != "" {
		attributes += fmt.Sprintf(" product=%q", id)
	} else {
		load = ""
	}
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A shop</title><link rel="icon" href="data:,">
%s</head>
<body><main><h1>A thing</h1><h2>Comments</h2><talkback-comments%s></talkback-comments></main></body></html>`, load, attributes)
}

const (
	// root is the inside of the element.
	root = `document.querySelector('talkback-comments').shadowRoot`
	// idle is true once an answer, or what stands for one, is drawn.
	idle = root + `?.querySelector('.root[aria-busy=false] :is(.list:not(.skeleton), .empty, .error)')`
)

// other is the inside of a second element, in another.
var other = strings.ReplaceAll(root, "querySelector('talk", "querySelector('#other talk")

// text returns the text of the part of the element that a selector finds, or null.
func text(selector string) string {
	return fmt.Sprintf("(%s?.querySelector(%q)?.textContent ?? null)", root, selector)
}

// says waits until the part that a selector finds has a text.
func says(selector, want string) chromedp.Action {
	return waitFor(fmt.Sprintf("%s === %q", text(selector), want), text(selector))
}

// holds waits until an expression is true.
func holds(expression string) chromedp.Action { return waitFor(expression, idle+"?.outerHTML ?? null") }

// patience bounds each wait for something on a page. Only a failure reaches it.
const patience = 2 * time.Minute

// waitFor waits until an expression is true. If it stays false, it fails with the value of another
// one.
func waitFor(expression, instead string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		short, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		err := browsertest.Until("("+expression+")", nil).Do(short)
		if err == nil {
			return nil
		}
		var found any
		_ = chromedp.Evaluate(instead, &found).Do(ctx)
		return fmt.Errorf("%s: %w; found %v", expression, err, found)
	})
}

// click clicks on the part of the element that a selector finds.
func click(selector string) chromedp.Action {
	return browsertest.ClickElement(fmt.Sprintf("%s.querySelector(%q)", root, selector))
}

// enter replaces the value of a field, as typing, pasting or choosing does.
func enter(selector, value string) chromedp.Action { return enterIn(root, selector, value) }

// enterIn is enter inside an element of a page that has several.
func enterIn(inside, selector, value string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf(`{
		const field = %s.querySelector(%q);
		field.value = %q;
		field.dispatchEvent(new Event(field.localName === 'select' ? 'change' : 'input', { bubbles: true }));
	}`, inside, selector, value), nil)
}

// focus puts the focus where a keyboard user would come by Tab.
func focus(selector string) chromedp.Action {
	return chromedp.Evaluate(fmt.Sprintf("%s.querySelector(%q).focus()", root, selector), nil)
}

// focused waits until the focus is on the part that a selector finds.
func focused(selector string) chromedp.Action {
	return waitFor(fmt.Sprintf("%s.activeElement?.matches(%q)", root, selector), root+".activeElement?.outerHTML ?? null")
}

// refresh makes the element read its comments again, and waits for them.
var refresh = chromedp.Evaluate("document.querySelector('talkback-comments').refresh()", nil, awaited)

// opens visits a page of the shop, waits for its comments, and takes actions there.
func (s shop) opens(t *testing.T, ctx context.Context, page string, actions ...chromedp.Action) {
	t.Helper()
	browsertest.Visit(t, ctx, s.address+"/shop/"+page, append([]chromedp.Action{holds(idle)}, actions...)...)
}

// run takes actions on an open page without the watch of [browsertest.Visit], for cases in which
// the browser itself complains, such as an answer 503.
func run(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	must.Do(t, chromedp.Run(ctx, actions...))
}
