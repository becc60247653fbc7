package endtoend

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/browsertest"
	"github.com/talkback/talkback/internal/sample"
)

// many is a product with some 350 comments in seven languages, over eight years.
const many = "ceramic-mug-1"

// single is a product with one comment.
const single = "one"

// comments are all comments that the tests read.
func comments() []comment.Comment {
	var all, others []comment.Comment
	for c := range sample.Comments() {
		if c.ProductID == many {
			all = append(all, c)
		} else {
			others = append(others, c)
		}
	}
	others[0].ProductID = single
	return append(append(all, others[0]), hostileComments(others[1:])...)
}

// TestPages uses one browser, one program and one table for everything.
func TestPages(t *testing.T) {
	browser := browsertest.Open(t)
	s := openSite(t, slices.Values(comments()))
	for _, test := range []struct {
		name string
		run  func(*testing.T, context.Context, *site)
	}{
		{"by mouse", byMouse},
		{"elsewhere", elsewhere},
		{"without JavaScript", withoutScript},
		{"hostile texts", hostileTextsAreTexts},
		{"hostile ids", hostileIDsAreIDs},
		{"the drawer", theDrawer},
		{"valid HTML", validHTML},
		{"accessible", accessible},
		{"still and small", stillAndSmall},
		{"in pieces", inPieces},
		{"screens", screens},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, browser, s) })
	}
}

// step is one action of a reader, and its result.
type step struct {
	does    func(*tab)
	query   string // of the address after it
	request int    // requests to the API by the browser
}

// walk takes steps on the page of a product. After each, the page has the expected address and the
// API's list for it. It made no more requests than the step expects.
func walk(t *testing.T, s *site, b *tab, product string, steps []step) {
	t.Helper()
	for i, step := range steps {
		before, _ := b.asked()
		step.does(b)
		address := "/products/" + product + step.query
		b.list(address, s.idsAt(t, address))
		if after, _ := b.asked(); after-before != step.request {
			t.Errorf("step %d to %s: %d requests to the API, want %d", i, address, after-before, step.request)
		}
	}
}

func click(selector string) func(*tab) { return func(b *tab) { b.mouse(selector) } }

func script(expression string) func(*tab) {
	return func(b *tab) { b.do(chromedp.Evaluate(expression, nil)) }
}

func byMouse(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	page := s.address + "/products/" + many
	back, forward := script("history.back()"), script("history.forward()")
	walk(t, s, b, many, []step{
		{func(b *tab) { b.do(chromedp.Navigate(page)) }, "", 0},
		{click(".bar[href='?rating=5']"), "?rating=5", 1},
		{click(".bar[href='?rating=5&rating=4']"), "?rating=5&rating=4", 1},
		{click(".chip[href*='language=en']"), "?rating=5&rating=4&language=en", 1},
		{click(".pages ol [href^='?page=2']"), "?page=2&rating=5&rating=4&language=en", 1},
		{click(".bar[aria-current] .label"), "?rating=4&language=en", 1}, // a filter leads to the first page
		{click(".clear"), "", 1},
		{func(b *tab) { b.typeInto(".jump [name=page]", "7"); b.mouse(".jump button") }, "?page=7", 1},
		{back, "", 1},
		{back, "?rating=4&language=en", 1},
		{forward, "", 1},
		{forward, "?page=7", 1},
		{func(b *tab) { b.do(chromedp.Reload()) }, "?page=7", 0},
		{click(".pages .step[rel=next]"), "?page=8", 1},
		{click(".pages .step[rel=prev]"), "?page=7", 1},
		{click(".order [href*=highest]"), "?order=highest", 1}, // another list, from its first page
		{click(".order [href*=lowest]"), "?order=lowest", 1},
		{click(".order [href*=helpful]"), "?order=helpful", 1},
		{click(".order [href*=oldest]"), "?order=oldest", 1},
		{click(".order a[href*=oldest]"), "?order=oldest", 1},
		{func(b *tab) { b.mouse(".dates summary"); b.days("2024-05-01", "2025-04-30"); b.mouse(".dates button") }, "?order=oldest&from=2024-05-01&to=2025-04-30", 1},
		{click(".order a:first-child"), "?from=2024-05-01&to=2025-04-30", 1},
	})
	shared := newTab(t, browser)
	walk(t, s, shared, many, []step{
		{func(fresh *tab) { fresh.do(chromedp.Navigate(s.address + b.address())) }, "?from=2024-05-01&to=2025-04-30", 0},
		{click(".clear"), "", 1},
	})
	b.quiet()
	shared.quiet()
}

// typeInto replaces the value of a field by typing.
func (b *tab) typeInto(selector, text string) {
	b.t.Helper()
	b.mouse(selector)
	b.selectAll()
	b.press(text)
}

func (b *tab) selectAll() {
	b.t.Helper()
	b.do(chromedp.Evaluate(root+".activeElement.select()", nil))
}

// days sets the two date fields, as the browser's calendar does.
func (b *tab) days(from, to string) {
	b.t.Helper()
	for name, day := range map[string]string{"from": from, "to": to} {
		b.do(chromedp.Evaluate(fmt.Sprintf("%s.querySelector('[name=%s]').value = %q", root, name, day), nil))
	}
}
