package endtoend

import (
	"context"
	"io"
	"net/http"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// states are addresses of the program, one for each state of a page.
func states() map[string]string {
	return map[string]string{
		"home":            "/",
		"explorer":        "/playground",
		"nowhere":         "/nowhere",
		"moderation":      "/moderation",
		"product":         "/products/" + many,
		"filtered":        "/products/" + many + "?page=2&rating=5&rating=4&language=en&language=de&order=oldest&from=2020-01-01&to=2026-10-31",
		"nothing matches": "/products/" + many + "?rating=1&language=xx",
		"beyond":          "/products/" + many + "?page=999",
		"too much":        "/products/" + many + "?page=13&rating=5&rating=4&language=de&language=en&only=verified&order=helpful&from=2020-01-01&to=2026-10-31",
		"single":          "/products/" + single,
		"no comments":     "/products/nothing",
		"hostile":         "/products/" + hostile,
	}
}

// Every page is valid HTML, as it is served.
func validHTML(t *testing.T, _ context.Context, s *site) {
	pages := map[string][]byte{}
	for name, path := range states() {
		pages[name] = get(t, s.address+path)
	}
	s.meet(answers(500, "oh no"))
	defer s.meet(nil)
	pages["error"] = get(t, s.troubled+"/products/"+many)
	s.meet(unnumbered)
	pages["no page numbers"] = get(t, s.troubled+"/products/"+many+"?page=4")
	pages["by cursors"] = get(t, s.troubled+"/products/"+many)
	browsertest.ValidHTML(t, pages)
}

func get(t *testing.T, address string) []byte {
	t.Helper()
	response := must.Get(http.Get(address))(t)
	defer response.Body.Close()
	return must.Get(io.ReadAll(response.Body))(t)
}

// Every page is accessible, light and dark, both initially and after a reader's actions, and fits
// the window. The explorer is tested beside its code.
func accessible(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	for i, row := range []struct {
		address string
		does    func(*tab)
	}{
		{s.address + "/", nil},
		{s.address + "/nowhere", nil},
		{s.address + states()["filtered"], func(b *tab) { b.mouse(".plan summary"); b.mouse(".pages .step") }},
		{s.address + states()["nothing matches"], nil},
		{s.address + states()["no comments"], nil},
		{s.address + states()["too much"], func(b *tab) {
			b.shows(".error p", "This is too much to look up. Choose fewer filters or an earlier page.")
			browsertest.Axe(t, b.ctx)
			b.mouse(".error a:not([rel])")
			b.until("location.search.startsWith('?rating=5') && " + root + ".querySelector('.result') !== null")
		}},
		{s.shop.URL + "/", func(b *tab) { b.mouse(".bar") }},
	} {
		scheme := []string{"light", "dark"}[i%2]
		b.do(colours(scheme), chromedp.Navigate(row.address))
		if row.does != nil {
			b.until(idle)
			row.does(b)
			b.until(idle)
		}
		browsertest.Axe(t, b.ctx)
		b.fits(row.address)
		if t.Failed() {
			t.Fatalf("that is %s, %s", row.address, scheme)
		}
	}
	// What has colours of its own is looked at in both schemes: a filtered list, and the error above
	// it.
	for _, scheme := range []string{"light", "dark"} {
		b.do(colours(scheme), chromedp.EmulateViewport(360, 800), chromedp.Navigate(s.troubled+states()["product"]))
		b.until(idle)
		b.mouse(".bar[href='?rating=2']")
		b.until("location.search === '?rating=2' && " + idle)
		s.meet(cut)
		b.mouse(".chip[href*='language=en']")
		b.until(root + `.querySelector('.error') !== null`)
		browsertest.Axe(t, b.ctx)
		s.meet(nil)
	}
}

// colours requests light or dark pages, as a reader's system does.
func colours(scheme string) chromedp.Action {
	return emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}})
}

// Bounds on what the first view of a product page transfers, in bytes, headers included.
const (
	mostScript  = 60_000
	mostInAll   = 150_000
	mostElement = 32_500 // of the element's script, with the headers of its answer; the file has at most 32,000
)

// shifts collects layout shifts that the reader did not cause.
const shifts = `window.shifted = [];
new PerformanceObserver((list) => {
	for (const entry of list.getEntries()) if (!entry.hadRecentInput) shifted.push([entry.value, ...entry.sources.map(({ node }) => node?.className || node?.nodeName)].join(' '));
}).observe({ type: 'layout-shift', buffered: true });`

// Nothing moves while a page loads, even over a slow line, and the page is small.
func stillAndSmall(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.onEachPage(shifts)
	b.do(network.EmulateNetworkConditions(false, 50, 200_000, 200_000)) // milliseconds, bytes a second
	for _, path := range []string{states()["product"], states()["filtered"], states()["single"], states()["no comments"], "/"} {
		b.do(chromedp.Navigate(s.address + path))
		if path != "/" {
			b.until(idle + ` && customElements.get('talkback-comments') !== undefined`)
		}
		b.until(`document.readyState === 'complete'`)
		b.until(`new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => drawn(true))))`)
		if moved := eval[[]string](b, "shifted"); len(moved) > 0 {
			t.Errorf("%s: what moves: %q", path, moved)
		}
		script, element, all := b.transferred()
		if script > mostScript || element > mostElement || all > mostInAll {
			t.Errorf("%s: %.0f bytes of script, %.0f of them the element's, %.0f in all", path, script, element, all)
		}
		t.Logf("%s: %.0f bytes of script, %.0f of them the element's, %.0f in all", path, script, element, all)
	}
	b.quiet()
}

// transferred returns what the tab has loaded since the last call.
func (b *tab) transferred() (script, element, all float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range b.order {
		l := b.loads[id]
		all += l.bytes
		if l.kind == network.ResourceTypeScript {
			script += l.bytes
		}
		if l.kind == network.ResourceTypeScript && l.url[len(l.url)-len("talkback.js"):] == "talkback.js" {
			element += l.bytes
		}
		l.bytes = 0
	}
	return script, element, all
}
