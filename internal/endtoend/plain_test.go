package endtoend

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Without JavaScript the same links and forms lead to the same lists, and every visible control
// works.
func withoutScript(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	b.do(emulation.SetScriptExecutionDisabled(true))
	b.do(chromedp.Navigate(s.address + "/products/" + many))
	for _, step := range []struct {
		does  func()
		query string
	}{
		{func() {}, ""},
		{func() { b.mouse(".bar[href='?rating=5']") }, "?rating=5"},
		{func() { b.mouse(".bar[href='?rating=5&rating=4']") }, "?rating=5&rating=4"},
		{func() { b.mouse(".chip[href*='language=en']") }, "?rating=5&rating=4&language=en"},
		{func() { b.mouse(".pages .step[rel=next]") }, "?page=2&rating=5&rating=4&language=en"},
		{func() { b.mouse(".clear") }, ""},
		{func() { b.typeInto(".jump [name=page]", "7"+kb.Enter) }, "?page=7"},
		{func() { b.mouse(".order a[href*=oldest]") }, "?order=oldest"},
		{func() {
			b.mouse(".dates summary")
			b.days("2024-05-01", "2025-04-30")
			b.mouse(".dates button")
		}, "?order=oldest&from=2024-05-01&to=2025-04-30"},
	} {
		step.does()
		address := "/products/" + many + step.query
		b.poll(fmt.Sprintf(`location.pathname + location.search === %q && document.readyState === 'complete'`, address))
		if got, want := fmt.Sprint(eval[[]string](b, ids)), fmt.Sprint(s.idsAt(t, address)); got != want {
			t.Errorf("%s shows %s, want %s", address, got, want)
		}
		if dead := eval[[]string](b, deadControls); len(dead) > 0 {
			t.Errorf("%s has controls that do nothing: %q", address, dead)
		}
	}
	if count, _ := b.asked(); count != 0 {
		t.Errorf("%d requests to the API by a browser without JavaScript", count)
	}
	b.quiet()
}

// deadControls finds the visible links, buttons and fields that do nothing without a script, and
// the part for writing, which needs one.
const deadControls = `[...` + root + `.querySelectorAll('a:not([href]), button, input, textarea, select, .write')]
	.filter((found) => found.checkVisibility({ visibilityProperty: true }) && found.getBoundingClientRect().height > 0)
	.filter((found) => !(found.form?.method === 'get' && found.form.hasAttribute('action')))
	.map((found) => found.outerHTML)`

// poll is until for a page whose scripts do not run.
func (b *tab) poll(expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); !eval[bool](b, expression); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("%s does not become true; at %s\nthe browser: %q", expression, b.address(), b.said())
		}
	}
}
