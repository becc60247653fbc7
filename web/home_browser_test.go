package web

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/talkback/talkback/internal/browsertest"
)

// onePage is the first page of a product with one comment.
const onePage = `{"data":{"product":{"id":"espresso-machine","stats":{"total":1,"average":5,"verified":0,"withMedia":0,
"ratings":[{"rating":5,"count":1},{"rating":4,"count":0},{"rating":3,"count":0},{"rating":2,"count":0},{"rating":1,"count":0}]},
"languages":[{"language":"en","count":1}],"commentsInOtherLanguages":0,"praise":null,"complaint":null,"facets":null,
"list":{"totalCount":1,"stats":null,"pageCount":1,"pageNumber":1,"pageInfo":{"hasNextPage":false,"hasPreviousPage":false,"startCursor":"a","endCursor":"a"},
"nodes":[{"id":"c_01HZ0000000000000000000000","rating":5,"language":"en","title":"Good","text":"Text","author":{"customerId":"a","name":"Ann"},
"createdAt":"2024-05-31T12:00:00Z","updatedAt":null,"version":1,"isVerifiedPurchase":true,"media":[],"votes":{"helpful":2},"reply":null}],"plan":null}},
"viewer":{"customerId":null,"isModerator":false,"mayWrite":false,"cannotWriteReason":"TOKEN_REQUIRED","cannotVoteReason":"TOKEN_REQUIRED"}}}`

// The home page is for reading and copying: each client's code by a click or by arrow keys, its
// copy on the clipboard, and the query open in the explorer.
func TestHomeInABrowser(t *testing.T) {
	ctx := browsertest.Open(t)
	api := newStub(t, strings.NewReplacer(`"en"`, `"ar"`, `"rank":2`, `"rank":10`).Replace(someLeaders), someBoards, somePraise)
	api.answers["ProductPage"] = onePage
	server := httptest.NewServer(Options{Schema: "type Query"}.Handler(api))
	t.Cleanup(server.Close)
	address := server.URL
	const shown = `[...document.querySelectorAll('.ask .code')].filter((e) => e.checkVisibility()).map((e) => e.className).join()`
	const copied = `//div[contains(@class, "fetch")]//button`
	const comments = `document.querySelector('talkback-comments')?.shadowRoot.querySelectorAll('.list > li').length === 1`
	var atFirst, clicked, byKey, clipboard string
	browsertest.Visit(t, ctx, address,
		browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite, browser.PermissionTypeClipboardSanitizedWrite}),
		chromedp.Evaluate(shown, &atFirst),
		browsertest.Until(comments, nil),
		browsertest.Click(`//label[text()="curl"]`), chromedp.Evaluate(shown, &clicked),
		chromedp.KeyEvent(kb.ArrowRight), chromedp.Evaluate(shown, &byKey),
		browsertest.Click(copied),
		browsertest.Until(`document.querySelector('.fetch .copy').textContent === 'Copied'`, nil),
		browsertest.Until(`navigator.clipboard.readText()`, &clipboard))
	if got := atFirst + ", " + clicked + ", " + byKey; got != "code graphql, code curl, code fetch" {
		t.Errorf("shown are %s; want one after the other", got)
	}
	if !strings.Contains(clipboard, "fetch('"+address+"/graphql'") {
		t.Errorf("the clipboard has %q", clipboard)
	}
	for _, look := range []struct {
		scheme string
		text   int64 // in pixels
	}{{"light", 32}, {"dark", 16}, {"light", 16}} {
		t.Run(fmt.Sprintf("%s, text of %d pixels", look.scheme, look.text), func(t *testing.T) {
			var wider int
			browsertest.Visit(t, ctx, address,
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: look.scheme}}),
				page.SetFontSizes(&page.FontSizes{Standard: look.text}),
				chromedp.EmulateViewport(320, 640),
				chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider))
			if wider > 0 {
				t.Errorf("a window of 320 pixels scrolls sideways by %d", wider)
			}
			browsertest.Axe(t, ctx)
		})
	}
	for _, name := range guideNames() {
		var wider int
		browsertest.Visit(t, ctx, address+guides+name, chromedp.EmulateViewport(320, 640),
			browsertest.Until(`document.querySelector('h1 + p') !== null`, nil),
			chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &wider))
		if wider > 0 {
			t.Errorf("in a window of 320 pixels, the guide %s scrolls sideways by %d", name, wider)
		}
	}
	browsertest.Axe(t, ctx)
	explorer, _ := serve(t)
	browsertest.Visit(t, ctx, explorer,
		browsertest.Click(`//a[text()="Open the explorer"]`),
		chromedp.WaitVisible(".graphiql-container", chromedp.ByQuery))
}
