package endtoend

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/talkback/talkback/comment"
	"github.com/talkback/talkback/internal/commenttest/must"
)

// hostile is a product whose comments are hard to show.
const hostile = "hostile"

// hostileTexts are texts that mean something to a parser, or need more room than there is.
var hostileTexts = []string{
	`<script>window.broken = 1</script><img src=x onerror="window.broken = 1"><b>bold</b>`,
	`</p></article></template></talkback-comments></script><script>window.broken = 1</script>`,
	`<!-- <script> --!> ]]> <![CDATA[ </style> <plaintext> <svg onload=window.broken=1>`,
	`&lt;b&gt; &amp;amp; &#0; &nbsp; ${window.broken = 1} {{constructor.constructor('window.broken = 1')()}} %3Cscript%3E`,
	`javascript:window.broken=1 " onmouseover="window.broken = 1" x='`,
	"left \u202eright to left\u202c \u2066isolated\u2069 \u200f\u200e \u061c never closed: \u202e\u2067",
	"zero\u200bwidth\u200d\u2060\ufeff joined \U000e0041\U000e0042 \u2028 line \u2029 paragraph",
	strings.Repeat("👩‍👩‍👧‍👦", 2000),
	strings.Repeat("Donaudampfschifffahrtsgesellschaftskapitän", 100),
	"https://example.com/" + strings.Repeat("a/b?c=d&", 300),
	strings.Repeat("W", 5000),
	"Z" + strings.Repeat("\u0300\u0301\u0302\u0489", 300) + " stacked",
	"many\n\n\n\n\n\nlines\n\tand a tab",
	"هذا منتج رائع، أنصح به <b>بشدة</b> (5/5)!",
	"מוצר נהדר, 100% מומלץ",
}

// hostileIDs are ids of products with a meaning in an address, in HTML or in JavaScript.
var hostileIDs = []string{
	`<script>window.broken=1</script>`, `"><img src=x onerror=window.broken=1>`, `a/b`, `a?b=c&d#e`, `..`, `.`, `100%`, `%2e%2e`,
	`{{constructor}}`, `</title></script>`, "\u202eabc", `ü ñ 日本`, `a b+c`, `'; alert(1); '`, `__proto__`, strings.Repeat("w", 120),
}

// hostileComments makes comments of others.
func hostileComments(others []comment.Comment) (all []comment.Comment) {
	for i, text := range hostileTexts {
		c := others[i]
		c.ProductID, c.Language, c.Text = hostile, "en", text
		if strings.ContainsAny(text, "هמ") {
			c.Language = "ar"
		}
		title := string([]rune(text)[:min(len([]rune(text)), 200)])
		c.Title, c.Author.Name = &title, title
		all = append(all, c)
	}
	for i, id := range hostileIDs {
		c := others[len(hostileTexts)+i]
		c.ProductID = id
		all = append(all, c)
	}
	return all
}

// hostileTextsAreTexts checks that the page shows texts unchanged, turns none into an element, runs
// none, and stays within the width of the window.
func hostileTextsAreTexts(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	for _, address := range []string{"/products/" + hostile, "/products/" + hostile + "?rating=1&rating=2&rating=3&rating=4&rating=5"} {
		b.do(chromedp.Navigate(s.address + address))
		b.until(idle)
		hostileShown(t, b)
	}
	b.do(chromedp.Navigate(s.address + "/products/" + hostile + "?to=1999-12-31"))
	b.mouse(".clear") // and now the script draws them anew
	b.list("/products/"+hostile, s.idsAt(t, "/products/"+hostile))
	hostileShown(t, b)
	b.fits("hostile texts")
	b.quiet()
}

// fits fails the test if the page is wider than its window, at any width.
func (b *tab) fits(what string) {
	b.t.Helper()
	for _, width := range []int64{320, 360, 768, 1280} {
		b.do(emulation.SetDeviceMetricsOverride(width, 800, 1, width < 700))
		if over := eval[[]string](b, overflowing); len(over) > 0 {
			b.t.Errorf("%s at %d px: wider than the window: %.300q", what, width, over)
		}
	}
	b.do(emulation.ClearDeviceMetricsOverride())
}

// overflowing returns the elements that extend beyond the window, if the page is wider than that.
const overflowing = `document.documentElement.scrollWidth <= document.documentElement.clientWidth ? [] :
	[document, document.querySelector('talkback-comments')?.shadowRoot].flatMap((within) => [...within?.querySelectorAll('*') ?? []])
	.filter((found) => found.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((found) => found.outerHTML.slice(0, 80))`

func hostileShown(t *testing.T, b *tab) {
	t.Helper()
	texts := eval[[]string](b, `[...`+root+`.querySelectorAll('.list .text')].map(({ textContent }) => textContent)`)
	if len(texts) != len(hostileTexts) {
		t.Fatalf("%d texts, want %d", len(texts), len(hostileTexts))
	}
	shown := map[string]bool{}
	for _, text := range texts {
		shown[text] = true
	}
	for _, text := range hostileTexts {
		if !shown[text] {
			t.Errorf("not shown as it is: %.80q; shown %.80q", text, texts)
		}
	}
	for expression, want := range map[string]string{
		`String(window.broken)`: "undefined",
		`String(` + root + `.querySelectorAll(':is(.text, .title, .author) *, script, img, b, plaintext').length)`:      "0",
		`String(` + root + `.querySelectorAll('[onload], [onerror], [onmouseover]').length)`:                            "0",
		`String([...` + root + `.querySelectorAll('.list .text[lang=ar]')].every((text) => text.matches(':dir(rtl)')))`: "true",
		`String([...` + root + `.querySelectorAll('.list .text[lang=en]')].every((text) => text.matches(':dir(ltr)')))`: "true",
		// Beside what floats, Firefox would move texts in the other direction far down.
		`getComputedStyle(` + root + `.querySelector('.list')).display`: "flow-root",
	} {
		if got := eval[string](b, expression); got != want {
			t.Errorf("%s is %s, want %s", expression, got, want)
		}
	}
}

// hostileIDsAreIDs visits products by ids that have a meaning elsewhere.
func hostileIDsAreIDs(t *testing.T, browser context.Context, s *site) {
	b := newTab(t, browser)
	for _, id := range hostileIDs {
		b.do(chromedp.Navigate(s.address + pathOf(id)))
		b.until(idle)
		if got := eval[string](b, `document.querySelector('h2').textContent`); got != "Product "+id {
			t.Errorf("the page of %q has the heading %q", id, got)
		}
		wanted := must.Get(json.Marshal(s.idsOf(t, id)))(t)
		same := fmt.Sprintf("JSON.stringify(%s) === %q && %s", ids, wanted, idle)
		b.until(same)
		b.mouse(".bar:has([value='1'])") // the rating of its only comment
		b.until("location.search.includes('rating=') && " + root + ".querySelector('.bar[aria-current]') !== null && " + same)
		b.mouse(".clear")
		b.until("!location.search.includes('rating=') && " + same)
		if got := eval[string](b, `String(window.broken)`); got != "undefined" {
			t.Errorf("the page of %q ran a script", id)
		}
		if over := eval[[]string](b, overflowing); len(over) > 0 {
			t.Errorf("%q: wider than the window: %.300q", id, over)
		}
	}
	b.quiet()
}

// pathOf is the path of a product's page. The ids "." and ".." cannot stand in a path.
func pathOf(id string) string {
	if id == "." || id == ".." {
		return "/products/?id=" + id
	}
	return "/products/" + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// idsOf asks the API for the comments of a product.
func (s *site) idsOf(t *testing.T, product string) (ids []string) {
	t.Helper()
	return s.idsFor(t, map[string]any{"id": product})
}
